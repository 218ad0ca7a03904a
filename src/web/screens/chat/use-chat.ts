import { useIsFetching, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Token, tokenStatus } from '../../../contract/entities/token.ts'
import type { Status } from '../../../contract/status.ts'
import { chatUrl, withPlaces } from '../../lib/chat-link.ts'
import { fullKey, hasKey } from '../../lib/full-key.ts'
import { read } from '../../lib/query.ts'
import { useServerAddress } from '../../lib/server-address.ts'
import { currentUser } from '../../lib/session.ts'
import { useStatus } from '../../lib/status.ts'
import { rowsOf } from '../../ui/list/listing.ts'

/** The link of an external chat page, and the first enabled token. */

interface ChatPage {
  readonly name: string
  readonly link: string
}

export type Chat =
  | { readonly kind: 'waiting' | 'notConfigured' | 'broken' | 'noToken' }
  | { readonly kind: 'failed'; readonly error: Error; readonly retry: () => void }
  | { readonly kind: 'ready'; readonly name: string; readonly url: URL; readonly token: Token }

/** One page of tokens: a user with more has an enabled one among them. */
const tokensMax = 100

/** `choose` finds the page in the status; undefined when it does not exist. */
export function useChat(choose: (status: Status) => ChatPage | undefined): Chat {
  const status = useStatus()
  const address = useServerAddress()
  // The stored status may be out of date, or missing.
  const isStatusKnown = useIsFetching({ queryKey: ['GET /api/status'] }) === 0
  // A visitor without a login has no tokens, and gets the message for that.
  const [isVisitor] = useState(() => currentUser() === null)
  const tokens = useQuery({ ...read('GET /api/token/', { query: { p: 0, size: tokensMax, paged: true } }), enabled: !isVisitor })

  if (!isStatusKnown || (tokens.isPending && !isVisitor)) return { kind: 'waiting' }
  if (tokens.isError && !tokens.data) return { kind: 'failed', error: tokens.error, retry: () => void tokens.refetch() }
  if (pagesOf(status).length === 0) return { kind: 'notConfigured' }
  const page = choose(status)
  if (!page) return { kind: 'broken' }
  const token = rowsOf(tokens.data).find((each) => each.status === tokenStatus.enabled && hasKey(each))
  if (!token) return { kind: 'noToken' }
  const url = chatUrl(page.link, { key: fullKey(token), address })
  return url ? { kind: 'ready', name: page.name, url, token } : { kind: 'broken' }
}

/** The page at an index of the list, or without one the default page. */
export function pageAt(status: Status, place: string | undefined): ChatPage | undefined {
  if (place === undefined) return pagesOf(status)[0]
  return /^\d+$/.test(place) ? listedPages(status)[Number(place)] : undefined
}

/** The page of the second link, or the default one. */
export function secondPage(status: Status): ChatPage | undefined {
  return pagesOf({ ...status, chat_link: status.chat_link2 || status.chat_link })[0]
}

/** The single link of older settings first, then the list. */
function pagesOf(status: Status): readonly ChatPage[] {
  const single = status.chat_link || status.chat_link2
  return [...(single ? [{ name: '', link: withPlaces(single) }] : []), ...listedPages(status)]
}

function listedPages({ chats }: Status): readonly ChatPage[] {
  return chats.flatMap((chat) => Object.entries(chat).map(([name, link]) => ({ name, link })))
}
