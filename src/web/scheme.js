// Sets the colour scheme before the first paint; a file of its own, so that no inline script has to be allowed.
;(() => {
  let mode = null
  try {
    mode = localStorage.getItem('mantine-color-scheme-value')
  } catch {}
  const dark = mode === 'dark' || (mode !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light')
})()
