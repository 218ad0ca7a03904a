import { readFileSync } from 'node:fs'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const server = 'http://127.0.0.1:3000'

export default defineConfig({
  root: 'src/web',
  // The same build serves any BASE_PATH: files name each other by relative addresses, and the server completes those of the page.
  base: './',
  plugins: [droppableSchemas(), keptScheme(), react()],
  build: {
    outDir: '../../dist/web',
    emptyOutDir: true,
    target: 'es2022',
    // A browser without it loads the same a little later.
    modulePreload: { polyfill: false },
    // What a visit may weigh is measured packed, by `npm run check`.
    chunkSizeWarningLimit: 600,
    rolldownOptions: {
      output: {
        // Without a name: the entry lists every file, which is 2 KB less for every first visit. The manifest has the names.
        chunkFileNames: 'assets/[hash].js',
        assetFileNames: 'assets/[hash][extname]',
        codeSplitting: { groups: chunks() },
      },
    },
  },
  server: { proxy: { '/api': server, '/pg': server, '/v1': server } },
})

/**
 * What is loaded together stands in one chunk, which compresses better than many and is one request, where each costs a slow line a
 * sixth of a second: what every visit needs, the fields of a form and hints, the focus of layers, what opens over fields, drawers and
 * dialogs, fields of several values, the parts of lists, and small things that many screens share. The rest is split by who imports it.
 */
function chunks() {
  const parts = (names: string) => new RegExp(String.raw`@mantine[\\/]core[\\/]esm[\\/]components[\\/](?:${names})[\\/]`)
  // One small function of these would bring along the chunk that it falls into.
  const helpers = String.raw`@mantine[\\/](?:hooks[\\/]esm[\\/](?:utils|use-merged-ref|use-timeout)|core[\\/]esm[\\/](?:core|components[\\/]ScrollArea[\\/]utils))[\\/]`
  const focusHooks = String.raw`@mantine[\\/]hooks[\\/]esm[\\/]use-focus-(?:return|trap)[\\/]`
  const ui = (names: string) => String.raw`[\\/]src[\\/]web[\\/]ui[\\/](?:${names})`
  const room = (name: string, files: string) => String.raw`${name}[\\/](?:${files})`
  const shared = [
    'shared|texts',
    room('dialog', 'confirm|layers'),
    room('view', 'copy-text|quota-text|status-tag|tag|time-text'),
    room('page', 'empty|notice|page-header|panel'),
    room('list', 'listing'),
  ].join('|')
  const lists = [room('list', 'column-chooser|data-|filtered-empty|list|pager|row-|time-range'), room('form', 'date-time')].join(
    '|',
  )
  return [
    { name: 'base', tags: ['$initial' as const], priority: 5 },
    {
      name: 'fields',
      test: new RegExp(
        `${helpers}|${parts('Group|InlineInput|Input|InputBase|Skeleton|Stack|Switch|Text|Textarea|TextInput|Title|Tooltip|VisuallyHidden').source}`,
      ),
      priority: 4,
    },
    { name: 'focus', test: new RegExp(`${parts('FocusTrap|Overlay').source}|${focusHooks}`), priority: 4 },
    {
      name: 'floating',
      test: parts(String.raw`Checkbox|Combobox(?![\\/]use-pills-reorder)|Popover|ScrollArea|Select`),
      priority: 3,
    },
    {
      name: 'dialogs',
      test: new RegExp(
        String.raw`${parts('Drawer|Modal|ModalBase|Paper').source}|[\\/](?:react-remove-scroll(?:-bar)?|react-style-singleton|use-sidecar|use-callback-ref|get-nonce|tslib)[\\/]`,
      ),
      priority: 3,
    },
    { name: 'tags', test: parts(String.raw`Combobox[\\/]use-pills-reorder|MultiSelect|Pill|PillsInput|TagsInput`), priority: 3 },
    { name: 'icons', test: /@tabler[\\/]icons-react[\\/]dist[\\/]esm[\\/]icons/, minShareCount: 6, priority: 2 },
    {
      name: 'shared',
      test: new RegExp(String.raw`[\\/]src[\\/](?:web[\\/]lib|contract)[\\/]|${ui(shared)}\.`),
      minShareCount: 8,
      priority: 2,
    },
    {
      name: 'lists',
      test: new RegExp(ui(lists)),
      minShareCount: 2,
      priority: 1,
    },
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

/**
 * The script before the first paint runs before everything else, and only bundled files get a name that browsers keep: without one each
 * visit would wait until the server has said that it is still the same.
 */
function keptScheme(): Plugin {
  let file: string
  return {
    name: 'kept-scheme',
    apply: 'build',
    buildStart() {
      file = this.emitFile({ type: 'asset', name: 'scheme.js', source: readFileSync('src/web/scheme.js') })
    },
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        const page = bundle['index.html']
        if (page?.type === 'asset') page.source = String(page.source).replace('/scheme.js', `./${this.getFileName(file)}`)
      },
    },
  }
}
