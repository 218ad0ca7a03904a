/**
 * Opens the page of a provider in a window of its own. The window is opened while the person still presses the button, or the browser
 * would take it for an advertisement; where it does so all the same, this window goes there itself.
 */
export async function visitProvider(begin: () => Promise<{ url: string }>): Promise<void> {
  const opened = window.open('about:blank', '_blank')
  try {
    const { url } = await begin()
    if (opened) opened.location.href = url
    else location.assign(url)
  } catch (cause) {
    opened?.close()
    throw cause
  }
}
