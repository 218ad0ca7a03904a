// The licence texts of all packages whose code a build distributes: those that the server needs at run time, and those in the
// console's bundle, and of the price data that it contains. Most licences require that their text is distributed with every copy.
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { neededPackages } from './lock.mjs'
import { root } from './process.mjs'

export const noticesFile = 'dist/THIRD-PARTY-NOTICES.txt'

/** Written by `npm run prices`. */
export const priceLicences = 'src/server/money/pricing/shipped-prices-licences.txt'

/** What the documentation site hands on. */
const ofDocsSite = ['minisearch', 'swagger-ui-dist']

const licenceFile = /^(licen[cs]e|copying|notice)([-.].*)?$/i

/** Writes dist/LICENSE and the notices. Packages for other systems are not installed, and left out. */
export async function writeNotices() {
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'))
  const paths = handedOnPackages(lock.packages, [...(await importedPackages('src/web')), ...ofDocsSite])
  const ofPackages = await Promise.all(paths.map((path) => noticeOf(path, lock.packages[path])))
  const notices = [...ofPackages, await readFile(join(root, priceLicences), 'utf8')]
  const head =
    'Sluice contains or uses the packages below. Each belongs to its authors and is used under its own licence; Sluice itself is under LICENSE.\n'
  await mkdir(join(root, 'dist'), { recursive: true })
  await writeFile(join(root, noticesFile), [head, ...notices.filter(Boolean)].join(`\n${'─'.repeat(80)}\n\n`))
  await copyFile(join(root, 'LICENSE'), join(root, 'dist/LICENSE'))
}

/** Lock file paths of the packages needed in production, and of the named ones with all they need. Packages of types have no code. */
export function handedOnPackages(packages, names) {
  const paths = neededPackages(packages, [...Object.keys(packages[''].dependencies), ...names])
  return paths.filter((path) => !path.includes('node_modules/@types/'))
}

/** Names of the packages that the console imports; the contract imports only packages that the server also needs. */
async function importedPackages(folder) {
  const files = (await readdir(join(root, folder), { recursive: true })).filter((path) => /(?<!\.test)\.tsx?$/.test(path))
  const texts = await Promise.all(files.map((file) => readFile(join(root, folder, file), 'utf8')))
  const targets = texts.flatMap((text) =>
    [...text.matchAll(/(?:^import |^} from |^export .*from |\bimport\()(?:.*from )?'([^.'][^']*)'/gm)].map(
      ([, target]) => target,
    ),
  )
  return new Set(targets.map((target) => target.split('/', target.startsWith('@') ? 2 : 1).join('/')))
}

async function noticeOf(path, { name, version, license }) {
  const files = await readdir(join(root, path)).catch(() => undefined)
  if (!files) return ''
  const texts = await Promise.all(
    files
      .filter((file) => licenceFile.test(file))
      .sort()
      .map((file) => readFile(join(root, path, file), 'utf8').catch(() => '')),
  )
  const { author } = JSON.parse(await readFile(join(root, path, 'package.json'), 'utf8'))
  const by = typeof author === 'string' ? author : (author?.name ?? '')
  const title = `${name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)} ${version}`
  return [
    title,
    `Licence: ${license ?? 'see its text'}${by ? `, by ${by}` : ''}`,
    '',
    ...texts.map((text) => `${text.trim()}\n`),
  ].join('\n')
}
