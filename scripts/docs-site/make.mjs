// Makes dist/docs of docs/: a static page for each document, readable without a script, the document itself beside it,
// llms.txt, and an index for the search in the browser. All links are relative, so that the folder can be served below any path.
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import { Marked } from 'marked'
import MiniSearch from 'minisearch'
import { packFiles } from '../lib/pack-files.mjs'
import { root } from '../lib/process.mjs'
import { sections } from './pages.mjs'
import { indexOptions } from './search.js'

const from = join(root, 'docs')
const to = join(root, 'dist/docs')
const languages = { en: 'English', zh: '中文' }
const assets = ['site.css', 'search.js', 'api.js']
const libraries = ['minisearch/dist/es/index.js', 'swagger-ui-dist/swagger-ui-bundle.js', 'swagger-ui-dist/swagger-ui.css']
const nameOfLibrary = (path) => (path.startsWith('minisearch/') ? 'minisearch.js' : posix.basename(path))

export async function makeDocsSite() {
  await rm(to, { recursive: true, force: true })
  await mkdir(to, { recursive: true })
  const pages = (await Promise.all(sections.flatMap((section) => section.pages.map((name) => readPages(section, name))))).flat()
  const { repository } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const site = { pages, names: new Set(pages.map(({ name }) => name)), repository: repository?.url ?? '' }
  for (const page of [...pages, ...frontPages(pages)]) {
    await write(`${page.name}.html`, pageHtml(site, page))
    if (page.source) await write(`${page.name}.md`, page.source)
  }
  const ofUsers = pages.filter(({ section }) => section.isForUsers)
  await write('search-users.json', indexOf(ofUsers))
  await write('search-operators.json', indexOf(pages))
  await write('llms.txt', contentsForModels(ofUsers))
  await write('llms-operators.txt', contentsForModels(pages))
  for (const file of assets) await cp(new URL(file, import.meta.url), join(to, file))
  for (const path of libraries) await cp(join(root, 'node_modules', path), join(to, nameOfLibrary(path)))
  await cp(join(from, 'images'), join(to, 'images'), { recursive: true })
  await write('users.json', JSON.stringify(filesOfUsers(ofUsers)))
  await packFiles(to)
  return 0
}

async function write(name, text) {
  await mkdir(dirname(join(to, name)), { recursive: true })
  await writeFile(join(to, name), text)
}

/** A document in its languages. */
async function readPages(section, name) {
  const read = async (language) => {
    const file = language === 'en' ? name : `${name}.${language}`
    const source = await readFile(join(from, `${file}.md`), 'utf8').catch(() => undefined)
    return source === undefined ? [] : [{ section, name: file, language, base: name, title: titleOf(source), source }]
  }
  const found = (await Promise.all(Object.keys(languages).map(read))).flat()
  if (found.length === 0) throw new Error(`docs/${name}.md is missing`)
  return found
}

function titleOf(source) {
  return /^# (.+)$/m.exec(source)?.[1] ?? ''
}

/** `index` leads users, `operators` those who run a server. */
function frontPages(pages) {
  const contents = (wanted) =>
    sections
      .filter(wanted)
      .map(({ title, pages: names }) => {
        const items = names.map((name) => `- [${pages.find((page) => page.name === name)?.title}](${name}.md)`)
        return `## ${title.en}\n\n${items.join('\n')}`
      })
      .join('\n\n')
  const users = sections.find(({ isForUsers }) => isForUsers)
  const front = (name, section, text) => ({ section, name, base: name, language: 'en', title: titleOf(text), text })
  return [
    front(
      'index',
      users,
      `# Sluice documentation\n\nOne address and one key for many AI models. [中文](use/calls.zh.md)\n\n${contents(({ isForUsers }) => isForUsers)}\n- [API](api.html)\n\n[For those who run a server](operators.html)`,
    ),
    {
      ...front('api', users, '# Calls\n\nChoose *Authorize* to call with a key of your own.'),
      head: '<link rel="stylesheet" href="swagger-ui.css"><script src="swagger-ui-bundle.js"></script><script type="module" src="api.js"></script>',
      foot: '<div id="viewer"></div>',
    },
    front('operators', sections[1], `# Run Sluice\n\n${contents(() => true)}`),
  ]
}

/** What may be given to everybody. */
function filesOfUsers(pages) {
  const own = pages.flatMap(({ name }) => [`${name}.html`, `${name}.md`])
  return ['index.html', 'api.html', 'search-users.json', 'llms.txt', ...libraries.map(nameOfLibrary), ...assets, ...own]
}

function contentsForModels(pages) {
  const lines = pages.filter(({ language }) => language === 'en').map(({ name, title }) => `- [${title}](${name}.md)`)
  return `# Sluice\n\n> A gateway in front of the APIs of AI models: four dialects, one key, one bill.\n\n## Documents\n\n${lines.join('\n')}\n`
}

function pageHtml(site, page) {
  const up = '../'.repeat(page.name.split('/').length - 1) || './'
  const audience = page.section.isForUsers ? 'users' : 'operators'
  const others = site.pages.filter(({ base, name }) => base === page.base && name !== page.name)
  const words =
    page.language === 'zh' ? { search: '搜索文档', contents: '目录' } : { search: 'Search the documents', contents: 'Contents' }
  const translations = others.map(
    ({ name, language }) => `<a href="${up}${name}.html" hreflang="${language}">${languages[language]}</a>`,
  )
  const source = page.source ? [`<a href="${up}${page.name}.md">Markdown</a>`] : []
  return `<!doctype html>
<html lang="${page.language}" data-index="${up}search-${audience}.json">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(page.title)} · Sluice</title>
<link rel="stylesheet" href="${up}site.css">
<script type="module" src="${up}search.js"></script>${page.head ?? ''}
</head>
<body>
<header>
<a class="brand" href="${up}${audience === 'users' ? 'index' : 'operators'}.html">Sluice</a>
<search hidden><input type="search" aria-label="${words.search}" placeholder="${words.search}"><ol></ol></search>
<div class="links"><a class="to-contents" href="#contents">${words.contents}</a> ${[...translations, ...source].join(' ')}</div>
</header>
<nav id="contents" aria-label="${words.contents}">${contentsHtml(site, page, up)}</nav>
<main>
${bodyHtml(site, page, page.text ?? page.source)}${page.foot ?? ''}</main>
</body>
</html>
`
}

function contentsHtml(site, page, up) {
  const shown = page.section.isForUsers ? sections.filter(({ isForUsers }) => isForUsers) : sections
  return shown
    .map((section) => {
      const items = section.pages.map((name) => {
        const ofLanguage = site.pages.find(({ base, language }) => base === name && language === page.language)
        const target = ofLanguage ?? site.pages.find((one) => one.name === name)
        const current = target.name === page.name ? ' aria-current="page"' : ''
        return `<li><a href="${up}${target.name}.html"${current}>${escaped(target.title)}</a></li>`
      })
      const viewer = section.isForUsers
        ? `<li><a href="${up}api.html"${page.name === 'api' ? ' aria-current="page"' : ''}>API</a></li>`
        : ''
      return `<p>${section.title[page.language]}</p><ul>${items.join('')}${viewer}</ul>`
    })
    .join('')
}

/** Headings get the ids that links between the documents use. A link to a file that is no page leads to the repository, if it is public. */
function bodyHtml(site, page, text) {
  const known = new Map()
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: heading }) {
        const id = idOf(heading, known)
        return `<h${depth} id="${id}"><a href="#${id}">${this.parser.parseInline(tokens)}</a></h${depth}>\n`
      },
      link({ href, tokens }) {
        const label = this.parser.parseInline(tokens)
        const target = targetOf(site, page, href)
        return target === undefined ? label : `<a href="${escaped(target)}">${label}</a>`
      },
      table(token) {
        return `<div class="table">${Object.getPrototypeOf(this).table.call(this, token)}</div>`
      },
    },
  })
  return marked.parse(text)
}

function targetOf({ names, repository }, page, href) {
  if (/^(https?:|mailto:|#)/.test(href)) return href
  const [path, anchor] = href.split('#')
  const full = posix.normalize(posix.join(posix.dirname(page.name), path))
  const behind = anchor === undefined ? '' : `#${anchor}`
  if (names.has(full.replace(/\.md$/, ''))) return `${path.replace(/\.md$/, '.html')}${behind}`
  if (path.endsWith('.html') || full.startsWith('images/')) return href
  return repository === '' ? undefined : `${repository}/blob/HEAD/${posix.normalize(`docs/${full}`)}${behind}`
}

/** The id of a heading as hosting sites make it: lower case, hyphens for blanks, no other signs; a repeated one gets a number. */
function idOf(heading, known) {
  const plain = heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-')
  const count = known.get(plain) ?? 0
  known.set(plain, count + 1)
  return count === 0 ? plain : `${plain}-${count}`
}

/** A part of a page below a heading is what a search finds. */
function indexOf(pages) {
  const index = new MiniSearch(indexOptions)
  for (const { name, title, source } of pages) {
    const known = new Map()
    for (const [position, part] of source.split(/^(?=#{1,3} )/m).entries()) {
      const heading = /^#+ (.+)$/m.exec(part)?.[1] ?? title
      const address = `${name}.html#${idOf(heading, known)}`
      index.add({ id: `${name} ${position}`, address, title, heading, text: part.replaceAll(/[`*|[\]()#<>]/g, ' ') })
    }
  }
  return JSON.stringify(index)
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
