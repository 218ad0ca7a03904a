import { defineConfig } from 'vite'

/**
 * Few files for what starts with the server and with its command line, made of the built modules and the packages they use: hundreds of
 * small ones take Node twice as long to start, and memory for each. Parts that are loaded when they are first needed stay files of their own.
 */
export default defineConfig({
  publicDir: false,
  ssr: { noExternal: true, external: ['@node-rs/argon2', '@node-rs/bcrypt', '@photostructure/sqlite'] },
  build: {
    ssr: true,
    target: 'node20',
    outDir: 'dist/server',
    emptyOutDir: false,
    minify: false,
    rolldownOptions: {
      input: { main: 'dist/server/start.js', sluice: 'dist/server/commands/sluice.js' },
      output: { entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' },
    },
  },
})
