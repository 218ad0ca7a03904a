import http from 'node:http'
import { defineConfig, type Plugin } from 'vite'

/**
 * Few files for what starts with the server and with its command line, made of the built modules and the packages they use: hundreds of
 * small ones take Node twice as long to start, and memory for each. Parts that are loaded when they are first needed stay files of their own.
 */
export default defineConfig({
  publicDir: false,
  plugins: [lightBuiltins()],
  ssr: { noExternal: true, external: ['@node-rs/argon2', '@node-rs/bcrypt'] },
  build: {
    ssr: true,
    target: 'node24',
    outDir: 'dist/server',
    emptyOutDir: false,
    minify: false,
    rolldownOptions: {
      input: {
        main: 'dist/server/run/start.js',
        sluice: 'dist/server/run/commands/sluice.js',
        'count-worker': 'dist/server/gateway/protocols/count-worker.js',
      },
      output: {
        entryFileNames: '[name].js',
        chunkFileNames: 'chunks/[name]-[hash].js',
        comments: false,
        // Node keeps the text of every module: as Latin-1 it takes half of the memory that one Chinese character makes it take.
        minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
      },
    },
  },
})

/**
 * Modules of Node that take more memory than what is used of them. An ES module that imports `node:http` makes Node read all its members, among
 * them those of the WebSocket client, which load Node's own copy of undici: 13 MB. Fastify requires `node:http2` for a setting that is not
 * used here: 6 MB.
 */
function lightBuiltins(): Plugin {
  const lightHttp = '\0light:http'
  const noHttp2 = '\0light:http2'
  const isComputed = (name: string) => Object.getOwnPropertyDescriptor(http, name)?.get !== undefined
  return {
    name: 'light-builtins',
    enforce: 'pre',
    resolveId(id, _importer, { kind }) {
      if (id === 'node:http' && kind === 'import-statement') return lightHttp
      return id === 'node:http2' ? noHttp2 : null
    },
    load(id) {
      if (id === noHttp2) return 'export {}'
      if (id !== lightHttp) return null
      const names = Object.keys(http).filter((name) => !isComputed(name))
      return `const http = process.getBuiltinModule('node:http'); export const { ${names.join(', ')} } = http; export default http`
    },
  }
}
