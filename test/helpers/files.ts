import type { FileDialect } from '../../src/server/gateway/protocols/format.ts'
import type { TestServer } from './app.ts'

interface Seeded {
  readonly id: string
  readonly channelId: number
  readonly userId?: number
  readonly dialect?: FileDialect
}

/** A file of a user at a channel, as if it had been uploaded, in place of any other with this id; its vendor has it by the same id. */
export async function seedFile({ app }: TestServer, { id, channelId, userId = 1, dialect = 'openai' }: Seeded): Promise<void> {
  const channel = app.channels.current.byId.get(channelId)
  if (!channel) throw new Error(`There is no channel ${channelId}`)
  await app.keptFiles.forget({ id })
  await app.keptFiles.begin({ userId, tokenId: 0 }, { id, dialect, bytes: 1, filename: 'a.txt', purpose: 'user_data' })
  const kept = { vendorId: id, state: 'kept', channelId, keyId: channel.keyId, expiresAt: 0 } as const
  await app.keptFiles.update({ id, userId }, kept)
}
