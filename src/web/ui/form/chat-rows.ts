import { faultOfChatLink, faultOfChatName, knownChats } from '../../../contract/chats.ts'
import type { Text } from '../../../contract/text.ts'
import { isJsonObject, parseJson } from '../../lib/json.ts'

/** Chat pages as rows, and as the option stores them: a list of objects with one name and its link each. */
export interface ChatRow {
  readonly name: string
  readonly link: string
}

export const newChat: ChatRow = { name: '', link: '' }

/** Undefined when the text does not fit into rows. */
export function readChats(text: string): readonly ChatRow[] | undefined {
  if (text.trim() === '') return []
  const list = parseJson(text)
  if (!Array.isArray(list)) return undefined
  const rows = list.flatMap((entry) => rowOf(entry) ?? [])
  return rows.length < list.length ? undefined : rows
}

function rowOf(entry: unknown): ChatRow | undefined {
  const [[name, link] = [], ...others] = isJsonObject(entry) ? Object.entries(entry) : []
  return name !== undefined && typeof link === 'string' && others.length === 0 ? { name, link } : undefined
}

/** Empty rows are left out. */
export function writeChats(rows: readonly ChatRow[]): string {
  const filled = rows.filter(({ name, link }) => name !== '' || link !== '')
  return JSON.stringify(filled.map(entryOf), null, 2)
}

const entryOf = ({ name, link }: ChatRow) => ({ [name]: link })

/** The contract's errors for the name and the link. */
export function faultsOfChat({ name, link }: ChatRow): { readonly [Field in keyof ChatRow]: Text | undefined } {
  return { name: faultOfChatName(name), link: faultOfChatLink(link) }
}

/** Well-known chat pages that are not among the rows. */
export function missingChats(rows: readonly ChatRow[]): readonly ChatRow[] {
  const links = new Set(rows.map(({ link }) => link))
  return knownChats.flatMap((entry) => rowOf(entry) ?? []).filter(({ link }) => !links.has(link))
}
