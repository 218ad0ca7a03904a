// The exports that no other file imports, found by the lines of imports and exports. All files are formatted, so that each of these
// statements begins a line.
import { posix } from 'node:path'

/** A statement with `from`, in one line or several. */
const fromStatement = /^(?:import|export)\s+(?:type\s+)?([\w\s{},*]*?)\s+from\s+['"]([^'"]+)['"]/gm
/** `import('…')` of a module or of a type. */
const laterImport = /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g
const declaration = /^export\s+(?:declare\s+|abstract\s+|async\s+)*(?:const|let|function|class|interface|type|enum)\*?\s+(\w+)/gm
const pattern = /^export\s+const\s+[{[]([^=]*)[}\]]\s*=/gm
const list = /^export\s+(?:type\s+)?\{([^}]*)\}(?!\s*from)/gm
const defaultExport = /^export\s+default\s/m

/**
 * The unused exports of these files: a sentence for each. `isLoadedByName` tells which files are loaded by something else than an import:
 * their exports are not examined.
 */
export function unusedExports(files, isLoadedByName = () => false) {
  const used = usedNames(files)
  return files
    .filter(({ path }) => !isLoadedByName(path))
    .flatMap(({ path, text }) =>
      [...new Set(exportsOf(text))]
        .filter((name) => !used.has(`${moduleOf(path)} ${name}`) && !used.has(`${moduleOf(path)} *`))
        .map((name) => `${path}: ${name} ${isMentioned(text, name) ? 'is used only there' : 'is used nowhere'}`),
    )
}

/** The exported names of a file. */
function exportsOf(text) {
  return [
    ...[...text.matchAll(declaration)].map(([, name]) => name),
    ...[...text.matchAll(pattern)].flatMap(([, names]) => namesOf(names.replaceAll(':', ' as '))),
    ...[...text.matchAll(list)].flatMap(([, names]) => namesOf(names)),
    ...[...text.matchAll(fromStatement)].flatMap(([statement, clause]) =>
      statement.startsWith('export') ? inBraces(clause).map(after) : [],
    ),
    ...(defaultExport.test(text) ? ['default'] : []),
  ]
}

/** What is imported by any file, each as `path name`; the name is `*` for all exports of a file. */
function usedNames(files) {
  const used = new Set()
  const words = new Map()
  for (const { path, text } of files) {
    for (const [, clause, specifier] of text.matchAll(fromStatement))
      for (const name of importedBy(clause)) used.add(`${resolved(path, specifier)} ${name}`)
    for (const [, specifier] of text.matchAll(laterImport)) {
      const target = resolved(path, specifier)
      words.set(target, `${words.get(target) ?? ''}\n${text}`)
    }
  }
  // A module that is loaded later gives what its importers mention.
  for (const { path, text } of files) {
    const importers = words.get(moduleOf(path))
    if (importers === undefined) continue
    for (const name of exportsOf(text)) if (new RegExp(`\\b${name}\\b`).test(importers)) used.add(`${moduleOf(path)} ${name}`)
  }
  return used
}

/** The names that a clause imports: `a, { b as c, type d }`, `* as e`. */
function importedBy(clause) {
  const outside = clause.replace(/\{[^}]*\}/, '').replace(/[\s,]/g, '')
  if (outside.startsWith('*')) return ['*']
  return [...inBraces(clause).map(before), ...(outside === '' ? [] : ['default'])]
}

function inBraces(clause) {
  return (/\{([^}]*)\}/.exec(clause)?.[1] ?? '')
    .split(',')
    .map((each) => each.trim().replace(/^type\s+/, ''))
    .filter((each) => each !== '')
}

function namesOf(names) {
  return inBraces(`{${names}}`).map((each) => after(each).replace(/^\.\.\./, ''))
}

const before = (name) => name.split(/\s+as\s+/)[0]
const after = (name) => name.split(/\s+as\s+/).at(-1)

/** Whether a file mentions one of its exports in another place than its declaration. */
function isMentioned(text, name) {
  return (text.match(new RegExp(`\\b${name}\\b`, 'g'))?.length ?? 0) > 1
}

/** A declaration file describes the script next to it. */
function moduleOf(path) {
  return path.replace(/\.d\.mts$/, '.mjs')
}

/** The path in the repository that a specifier names; built modules are those of their sources. */
function resolved(from, specifier) {
  if (!specifier.startsWith('.')) return specifier
  const path = posix.join(posix.dirname(from), specifier.replace(/\?.*$/, ''))
  return moduleOf(path.startsWith('dist/') ? path.replace(/^dist\//, 'src/').replace(/\.js$/, '.ts') : path)
}
