// The exports that no other file imports.
import { posix } from 'node:path'
import { parseSync } from 'vite'

/** `import('…')` of a module or of a type. */
const laterImport = /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g

/**
 * The unused exports of these files: a sentence for each. `isLoadedByName` tells which files are loaded by something else than an import:
 * their exports are not examined.
 */
export function unusedExports(files, isLoadedByName = () => false) {
  const modules = files.map(moduleOf)
  const used = usesOf(modules)
  return modules
    .filter(({ path }) => !isLoadedByName(path))
    .flatMap(({ path, name, text, exported }) =>
      exported
        .filter((each) => !used.has(`${name} ${each}`) && !used.has(`${name} *`))
        .map((each) => `${path}: ${each} ${isMentioned(text, each) ? 'is used only there' : 'is used nowhere'}`),
    )
}

/** A file with what it exports, what it imports as `path name`, and what it loads later. The name `*` stands for all exports. */
function moduleOf({ path, text }) {
  const { errors, module } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path}: ${errors[0].message}`)
  const entries = module.staticExports.flatMap((each) => each.entries)
  const imported = [
    ...module.staticImports.flatMap(({ moduleRequest, entries: all }) => all.map((each) => ({ ...each, moduleRequest }))),
    ...entries.filter(({ moduleRequest }) => moduleRequest),
  ]
  return {
    path,
    text,
    name: scriptOf(path),
    exported: entries.filter(({ exportName }) => exportName.kind !== 'None').map(({ exportName }) => nameOf(exportName)),
    imported: imported.map(({ moduleRequest, importName }) => `${resolved(path, moduleRequest.value)} ${nameOf(importName)}`),
    later: [...text.matchAll(laterImport)].map(([, specifier]) => resolved(path, specifier)),
  }
}

/** Everything that is imported. Of a module that is loaded later, these are the exports that its importers mention. */
function usesOf(modules) {
  const mentioned = modules.flatMap(({ name, exported }) => {
    const importers = modules.filter(({ later }) => later.includes(name))
    return exported.filter((each) => importers.some(({ text }) => wordOf(each).test(text))).map((each) => `${name} ${each}`)
  })
  return new Set([...modules.flatMap(({ imported }) => imported), ...mentioned])
}

function nameOf({ kind, name }) {
  if (kind === 'Name') return name
  return kind === 'Default' ? 'default' : '*'
}

/** Whether a file mentions one of its exports in another place than its declaration. */
function isMentioned(text, name) {
  return text.split(wordOf(name)).length > 2
}

const wordOf = (name) => new RegExp(`\\b${name}\\b`)

/** The script that a declaration file describes, or the file itself. */
function scriptOf(path) {
  return path.replace(/\.d\.mts$/, '.mjs')
}

/** The file in the repository that a specifier names; a built module is that of its source. */
function resolved(from, specifier) {
  if (!specifier.startsWith('.')) return specifier
  const path = posix.join(posix.dirname(from), specifier.replace(/\?.*$/, ''))
  return scriptOf(path.startsWith('dist/') ? path.replace(/^dist\//, 'src/').replace(/\.js$/, '.ts') : path)
}
