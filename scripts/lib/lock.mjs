// The packages of package-lock.json: its keys are paths such as `node_modules/a/node_modules/b`, '' for the project itself and `test`
// for the workspace with the packages of the tests.

/** Paths of installed packages: neither the project, nor a workspace, nor the link to one. */
export function packagePaths(packages) {
  return Object.keys(packages).filter((path) => path.includes('node_modules/') && !packages[path].link)
}

/** What the project needs to build and serve: dependencies and devDependencies of the root, and all that they need. */
export function rootPackages(packages) {
  const { dependencies, devDependencies } = packages['']
  return neededPackages(packages, Object.keys({ ...dependencies, ...devDependencies }))
}

/** The paths of the packages with these names at the root and of all that they need; optional peers are left out. */
export function neededPackages(packages, names) {
  const found = new Set()
  const visit = (path) => {
    if (path === undefined || found.has(path)) return
    found.add(path)
    const { dependencies, optionalDependencies, peerDependencies = {}, peerDependenciesMeta = {} } = packages[path]
    const peers = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional)
    for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers])
      visit(resolve(packages, path, name))
  }
  for (const name of names) visit(resolve(packages, '', name))
  return [...found].sort()
}

/** The path where Node finds a package for another one: in its own folder, or the next one above. */
function resolve(packages, from, name) {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    const path = `${at}${at === '' ? '' : '/'}node_modules/${name}`
    if (packages[path]) return path
    if (at === '') return undefined
  }
}
