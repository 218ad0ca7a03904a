/** The path below which this site is (BASE_PATH), which the server writes into the page; '' for a site that has its host for itself. */
const basePath = globalThis.document?.documentElement.dataset.basePath ?? ''

/** The path of a file or a call of this site, from the root of its host. */
export function sitePath(path: string): string {
  return basePath + path
}

/** A name in what all sites of a host share: storage, databases and channels of the browser. */
export function ofSite(name: string): string {
  return basePath === '' ? name : `${basePath} ${name}`
}
