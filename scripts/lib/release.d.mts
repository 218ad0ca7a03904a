interface Publication {
  readonly homepage: string
  readonly repository: string
  readonly contact: string
  readonly releases: string
}

interface State {
  readonly version: string
  readonly current: string
  readonly isNewer: (version: string, than: string) => boolean
  readonly changelog: string
  readonly status: string
  readonly branch: string
  readonly tags: readonly string[]
}

export const unreleased: string
export function problemsOf(state: State): string[]
export function sectionOf(changelog: string, heading: string): string
export function cutChangelog(changelog: string, version: string): string
export function stepsLeft(release: { readonly version: string; readonly publication: Publication }): string[]
