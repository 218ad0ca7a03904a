import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const server = 'http://127.0.0.1:3000'

export default defineConfig({
  root: 'src/web',
  plugins: [react()],
  build: {
    outDir: '../../dist/web',
    emptyOutDir: true,
    target: 'es2022',
    rolldownOptions: {
      // The contract declares schemas beside labels and enums; a chunk that only shows labels must not pull zod in.
      treeshake: { manualPureFunctions: ['z', 'routes', 'section', 'option'] },
    },
  },
  server: { proxy: { '/api': server, '/pg': server, '/v1': server } },
})
