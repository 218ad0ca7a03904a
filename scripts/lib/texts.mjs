// The texts of the console: every pair of a Chinese and an English sentence in its sources and in the contract.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync, Visitor } from 'vite'
import { root } from './process.mjs'

/** `[{ file, zh, en }]` of the files below `folders`, paths relative to src/. */
export function textsIn(folders) {
  const source = join(root, 'src')
  return folders
    .flatMap((folder) =>
      readdirSync(join(source, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
    )
    .filter((path) => /\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path))
    .flatMap((path) => pairsOf(path, readFileSync(join(source, path), 'utf8')).map((pair) => ({ file: path, ...pair })))
}

function pairsOf(path, text) {
  const pairs = []
  new Visitor({
    ObjectExpression({ properties }) {
      const [zh, en] = ['zh', 'en'].map((name) => textOf(properties.find(({ key }) => key?.name === name)?.value))
      if (zh !== undefined && en !== undefined) pairs.push({ zh, en })
    },
    CallExpression({ callee, arguments: [texts] }) {
      if (callee.name !== 'defineTexts') return
      for (const { value } of texts.properties ?? []) {
        const [zh, en] = (value?.elements ?? []).map(textOf)
        if (zh !== undefined && en !== undefined) pairs.push({ zh, en })
      }
    },
  }).visit(parseSync(path, text).program)
  return pairs
}

/** The value of a text without expressions. */
function textOf(node) {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value
  if (node?.type === 'TemplateLiteral' && node.expressions.length === 0) return node.quasis[0].value.cooked
  return undefined
}
