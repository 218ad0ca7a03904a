import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const server = 'http://127.0.0.1:3000'

export default defineConfig({
  root: 'src/web',
  plugins: [droppableSchemas(), react()],
  build: {
    outDir: '../../dist/web',
    emptyOutDir: true,
    target: 'es2022',
    rolldownOptions: { output: { codeSplitting: { groups: chunks() } } },
  },
  server: { proxy: { '/api': server, '/pg': server, '/v1': server } },
})

/**
 * What is always loaded together stands in one chunk, which compresses better than many and is one request: what every visit needs, the
 * fields of a form, and what opens over them. The rest is split by who imports it.
 */
function chunks() {
  const parts = (names: string) => new RegExp(String.raw`@mantine[\\/]core[\\/]esm[\\/]components[\\/](?:${names})[\\/]`)
  return [
    { name: 'base', tags: ['$initial' as const], priority: 3 },
    { name: 'fields', test: parts('Group|InlineInput|Input|InputBase|Stack|Switch|Text|Textarea|TextInput|Title'), priority: 2 },
    { name: 'floating', test: parts('Checkbox|Combobox|Popover|ScrollArea|Select|Tooltip'), priority: 1 },
  ]
}

const wrapped: ReadonlySet<string> = new Set(['CallExpression', 'ObjectExpression', 'TSAsExpression', 'TSSatisfiesExpression'])

/**
 * The contract declares schemas beside labels and enums. Making a schema has no effect but the schema, which a bundler cannot know; told
 * so, it leaves out those that nothing uses, and a screen that only shows labels does not load zod.
 */
function droppableSchemas(): Plugin {
  return {
    name: 'droppable-schemas',
    enforce: 'pre',
    apply: 'build',
    transform: {
      filter: { id: /\/src\/contract\/.*\.ts$/ },
      handler(code) {
        const values = this.parse(code, { lang: 'ts' }).body.flatMap((statement) => {
          const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
          if (declared?.type !== 'VariableDeclaration') return []
          return declared.declarations.flatMap(({ init }) => (init && wrapped.has(init.type) ? [init] : []))
        })
        // From the end, so that the places before stay where they are.
        return values.reduceRight(
          (text, { start, end }) =>
            `${text.slice(0, start)}/* @__PURE__ */ (() => (${text.slice(start, end)}))()${text.slice(end)}`,
          code,
        )
      },
    },
  }
}
