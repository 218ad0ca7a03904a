/**
 * Opens the authorization page of a provider in a new window. The window is opened synchronously in the click, because a pop-up
 * blocker would stop it otherwise; if one does, this window navigates there.
 */
export async function startOAuth(begin: () => Promise<{ url: string }>): Promise<void> {
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
