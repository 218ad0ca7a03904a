// The search of the documentation site: an index that the build makes, searched in the browser.

/** A word is a run of letters and digits; each character of Chinese or Japanese is a word of its own. */
const word =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[\p{L}\p{N}_])+/gu

export const indexOptions = {
  fields: ['title', 'heading', 'text'],
  storeFields: ['address', 'title', 'heading'],
  tokenize: (text) => text.match(word) ?? [],
}

const shown = 10

async function start() {
  const field = document.querySelector('search')
  const input = field.querySelector('input')
  const list = field.querySelector('ol')
  const address = new URL(document.documentElement.dataset.index, location.href)
  let index
  const load = () => {
    index ??= Promise.all([import('./minisearch.js'), fetch(address).then((answer) => answer.text())]).then(
      ([{ default: MiniSearch }, text]) => MiniSearch.loadJSON(text, indexOptions),
    )
    return index
  }
  input.addEventListener('focus', load)
  input.addEventListener('input', async () => {
    const wanted = input.value
    const found = (await load()).search(wanted, {
      prefix: true,
      fuzzy: 0.15,
      combineWith: 'AND',
      boost: { title: 4, heading: 3 },
    })
    if (input.value === wanted) list.replaceChildren(...found.slice(0, shown).map((hit) => item(hit, address)))
  })
  field.hidden = false
}

function item({ address, title, heading }, index) {
  const link = document.createElement('a')
  link.href = new URL(address, index).href
  link.textContent = heading === title ? title : `${title}: ${heading}`
  const entry = document.createElement('li')
  entry.append(link)
  return entry
}

if (globalThis.document) await start()
