// What `npm run release` decides, apart from what it writes.

/** The section of the changelog for what no release has yet. */
export const unreleased = '## Unreleased'

/**
 * What keeps a version from being released, as sentences; empty when nothing does.
 * @param {{ version: string, current: string, isNewer: (version: string, than: string) => boolean, changelog: string,
 *   status: string, branch: string, tags: readonly string[] }} state `status` is that of `git status --porcelain`.
 */
export function problemsOf({ version, current, isNewer, changelog, status, branch, tags }) {
  return [
    [/^\d+\.\d+\.\d+(-rc\.\d+)?$/.test(version), `${version} is no version such as 1.2.3 or 1.2.3-rc.1`],
    [isNewer(version, current), `${version} does not come after ${current}`],
    [!tags.includes(`v${version}`), `the tag v${version} exists: a tag never moves, so take the next version`],
    [branch === 'main', `the branch is ${branch}, and releases are made on main`],
    [status === '', `there are changes without a commit:\n${status}`],
    [sectionOf(changelog, unreleased) !== '', `CHANGELOG.md has nothing below "${unreleased}"`],
  ].flatMap(([holds, problem]) => (holds ? [] : [problem]))
}

/** The text below a heading of the changelog, up to the next of its level. */
export function sectionOf(changelog, heading) {
  const [, after = ''] = `\n${changelog}`.split(`\n${heading}\n`)
  return (after.split(/\n(?=## )/)[0] ?? '').trim()
}

/** Heads what no release had with the version, below an empty section for what comes next. */
export function cutChangelog(changelog, version) {
  return changelog.replace(`${unreleased}\n`, `${unreleased}\n\n## ${version}\n`)
}

/**
 * Says from which commit and lock file the files were built, in the form of in-toto with a predicate of SLSA 1.0. It is not signed.
 * @param {{ version: string, repository: string, commit: string, lockHash: string, node: string, finishedOn: string,
 *   subjects: readonly { name: string, sha256: string }[] }} facts
 */
export function provenanceOf({ version, repository, commit, lockHash, node, finishedOn, subjects }) {
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: subjects.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:sluice:npm-run-release',
        externalParameters: { version },
        internalParameters: { node },
        resolvedDependencies: [
          { uri: `git+${repository || 'file://.'}@refs/tags/v${version}`, digest: { gitCommit: commit } },
          { name: 'package-lock.json', digest: { sha256: lockHash } },
        ],
      },
      runDetails: { builder: { id: 'urn:sluice:npm-run-release' }, metadata: { finishedOn } },
    },
  }
}

/**
 * What the script leaves to a person, as lines.
 * @param {{ version: string, publication: { homepage: string, repository: string, contact: string, releases: string } }} release
 * `publication` is that of package.json, whose members are empty until the project is published.
 */
export function stepsLeft({ version, publication }) {
  const empty = ['homepage', 'repository', 'contact', 'releases'].filter((name) => publication[name] === '')
  if (empty.length > 0)
    return [
      `It cannot be published: "publication" in package.json has no ${empty.join(', no ')}.`,
      'Until then the tag stays in this clone, and the files in dist/release.',
    ]
  return [
    `git push ${publication.repository} main v${version}`,
    `Make the release at the code host from the tag, with its message as text and the files of dist/release.`,
    `Check that ${publication.releases} names v${version}: running servers read it.`,
  ]
}
