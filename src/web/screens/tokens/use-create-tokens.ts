import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Token } from '../../../contract/entities/token.ts'
import { call } from '../../lib/call.ts'
import { currentPayer } from '../../lib/payer.ts'
import { invalidate } from '../../lib/query.ts'
import { bodyOf, type TokenValues } from './form-values.ts'
import { tokenLists } from './token-lines.ts'

export interface Creation {
  readonly made: readonly Token[]
  /** Why it stopped before the end. */
  readonly refusal?: unknown
}

/** Makes tokens one after another, and stops at the first refusal. The first has the plain name, the others a random suffix. */
export function useCreateTokens() {
  const client = useQueryClient()
  const [done, setDone] = useState(0)

  async function create(values: TokenValues): Promise<Creation> {
    const made: Token[] = []
    const place = currentPayer() ? { member_id: Number(values.member_id), team_id: Number(values.team_id) } : {}
    const body = { ...bodyOf(values), ...place }
    try {
      while (made.length < Number(values.count)) {
        const name = made.length === 0 ? body.name : `${body.name}-${randomSuffix()}`
        made.push(await call('POST /api/token/', { body: { ...body, name } }))
        setDone(made.length)
      }
      return { made }
    } catch (refusal) {
      return { made, refusal }
    }
  }

  const creation = useMutation({
    mutationFn: (values: TokenValues) => create(values),
    onSettled: () => invalidate(client, [...tokenLists, 'GET /api/system/first_run']),
  })
  return { creation, done }
}

const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

/** Six letters and digits, to distinguish names; they need not be uniformly distributed. */
function randomSuffix(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) => letters[byte % letters.length]).join('')
}
