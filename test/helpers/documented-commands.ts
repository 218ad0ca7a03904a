import { readFileSync } from 'node:fs'

const pages = new URL('../../docs/operations/', import.meta.url)

/** A block of commands of a page of docs/operations, unchanged, and the headings above it. */
export interface CommandBlock {
  /** The title of the page above its first chapter. */
  readonly chapter: string
  /** '' directly below the chapter. */
  readonly heading: string
  readonly commands: string
}

export function commandBlocks(page: string): CommandBlock[] {
  const chapters = readPage(page).split(/^##? /m).slice(1)
  return chapters.flatMap((text) => {
    const chapter = firstLine(text)
    return text.split(/^### /m).flatMap((part, index) => {
      const heading = index === 0 ? '' : firstLine(part)
      return [...part.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, commands = '']) => ({ chapter, heading, commands }))
    })
  })
}

/** The only block of commands below a chapter and a heading; where there are several, the one with the text `containing`. */
export function documentedCommands(page: string, chapter: string, heading = '', containing = ''): string {
  const [found, ...others] = commandBlocks(page).filter(
    (block) => block.chapter === chapter && block.heading === heading && block.commands.includes(containing),
  )
  if (!found || others.length > 0) throw new Error(`${page} has not one block of commands for ${chapter}: ${heading}`)
  return found.commands
}

/** The commands and settings that sentences of a page name, such as `sluice migrate` and `WORKERS=4`, each once. */
export function inlineCommands(page: string): string[] {
  const sentences = readPage(page).replace(/^```.*?^```$/gms, '')
  const spans = [...sentences.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text.replace(/\s+/g, ' '))
  return [...new Set(spans.filter((text) => /^(?:[a-z]+ |\w+=)/.test(text)))]
}

/** A command that a sentence of a page names. Throws when the page has it no more. */
export function inlineCommand(page: string, command: string): string {
  if (!inlineCommands(page).includes(command)) throw new Error(`${page} does not name ${command}`)
  return command
}

/** The value that a sentence of a page gives to a setting, as `4` in `WORKERS=4`. */
export function inlineSetting(page: string, name: string): string {
  const found = inlineCommands(page).find((text) => text.startsWith(`${name}=`))
  if (found === undefined) throw new Error(`${page} gives no value to ${name}`)
  return found.slice(name.length + 1)
}

const readPage = (page: string) => readFileSync(new URL(page, pages), 'utf8')
const firstLine = (text: string) => text.split('\n', 1)[0] ?? ''
