import { readFileSync } from 'node:fs'

const pages = new URL('../../docs/operations/', import.meta.url)

/** The commands of a page of docs/operations under a heading of a chapter, unchanged. */
export function documentedCommands(page: string, chapter: string, heading: string): string {
  const text = readFileSync(new URL(page, pages), 'utf8')
  const inChapter = text.split(/^## /m).find((part) => part.startsWith(`${chapter}\n`)) ?? ''
  const below = inChapter.split(/^### /m).find((part) => part.startsWith(`${heading}\n`)) ?? ''
  const [, commands] = /^```sh\n(.*?)^```$/ms.exec(below) ?? []
  if (!commands) throw new Error(`${page} has no commands for ${chapter}: ${heading}`)
  return commands
}
