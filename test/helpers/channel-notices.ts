import { afterEach, beforeEach } from 'vitest'
import { channelInput } from '../../src/contract/entities/channel.ts'
import type { Caller } from '../../src/server/base/options/core.ts'
import { addChannels } from '../../src/server/gateway/channels/edit/channels.ts'
import { type AccountNode, addUser, mailOptions, startAccounts } from './accounts.ts'
import type { TestDatabase } from './databases.ts'
import { type SmtpServer, startSmtpServer } from './smtp-server.ts'

/** Tests of notices about channels: each has a node that sends mail, a super admin with the address `home`, and a user with another. */
export function channelNotices(fresh: () => Promise<TestDatabase>) {
  const caller: Caller = { id: 1, username: 'root', role: 100, group: 'default', address: '' }
  const home = 'ada@example.com'
  let test: TestDatabase
  let node: AccountNode
  let smtp: SmtpServer

  beforeEach(async () => {
    test = await fresh()
    smtp = await startSmtpServer()
    node = await startAccounts(test)
    await node.set(mailOptions(smtp))
    const ada = await addUser(node, 'ada', { email: home })
    await node.db.updateTable('users').set({ role: 100 }).where('id', '=', ada.id).execute()
    await addUser(node, 'eve', { email: 'eve@example.com' })
  })
  afterEach(async () => {
    await node.close()
    await smtp.stop()
    await test.drop()
  })

  return {
    caller,
    home,
    get node() {
      return node
    },
    get smtp() {
      return smtp
    },
    /** Another node on the same database, if it supports several. */
    otherNode: async () => (test.kind === 'postgres' ? await startAccounts(test, { clock: node.clock }) : node),
    /** Adds a channel and returns its id. */
    async add(name: string): Promise<number> {
      const input = channelInput.parse({ type: 1, name, key: 'secret-key-123', models: 'm' })
      const [id = 0] = await addChannels(node, { caller, input })
      return id
    },
  }
}
