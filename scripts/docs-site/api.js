// The viewer of the server's calls: those of the console too for readers who are logged in.
const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', follow)
follow()

const addresses = ['../api/openapi.json', 'relay.json'].map((path) => new URL(path, import.meta.url))
const answers = await Promise.all(addresses.map((address) => fetch(address).catch(() => undefined)))
const answer = answers.find((each) => each?.ok)
if (answer) {
  SwaggerUIBundle({
    dom_id: '#viewer',
    spec: await answer.json(),
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: -1,
  })
} else document.querySelector('#viewer').textContent = 'The calls are shown by a running server, under /docs/api.'
