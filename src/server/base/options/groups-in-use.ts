import type { OptionValues } from '../../../contract/options/index.ts'
import type { Text } from '../../../contract/text.ts'
import type { Queries } from '../db/open.ts'
import { fail } from '../lib/failure.ts'

/**
 * Throws `groups_in_use` when a user, token or channel is in a group that is about to lose its ratio: its users' prices would change
 * silently, and tokens that name it would stop to work.
 */
export async function requireUnused(db: Queries, before: OptionValues, after: OptionValues): Promise<void> {
  const removed = Object.keys(before.GroupRatio).filter((group) => !Object.hasOwn(after.GroupRatio, group))
  if (removed.length === 0) return
  const users = await countIn(db, 'users', removed)
  const tokens = await countIn(db, 'tokens', removed)
  const channels = (await db.selectFrom('channels').select('group').execute()).map(({ group }) => group.split(','))

  const uses = removed.map((group) => ({
    group,
    users: users.get(group) ?? 0,
    tokens: tokens.get(group) ?? 0,
    channels: channels.filter((groups) => groups.includes(group)).length,
  }))
  const inUse = uses.filter((use) => use.users + use.tokens + use.channels > 0)
  if (inUse.length > 0) fail('groups_in_use', { groups: listed(inUse) })
}

async function countIn(db: Queries, table: 'users' | 'tokens', groups: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const counts = await db
    .selectFrom(table)
    .select(['group', ({ fn }) => fn.countAll<number>().as('count')])
    .where('group', 'in', groups)
    .where('deleted_at', 'is', null)
    .groupBy('group')
    .execute()
  return new Map(counts.map(({ group, count }) => [group, count]))
}

interface Use {
  readonly group: string
  readonly users: number
  readonly tokens: number
  readonly channels: number
}

function listed(uses: readonly Use[]): Text {
  const texts = uses.map(({ group, users, tokens, channels }) => ({
    zh: `${group}（用户 ${users}、令牌 ${tokens}、渠道 ${channels}）`,
    en: `${group} (users ${users}, tokens ${tokens}, channels ${channels})`,
  }))
  return { zh: texts.map(({ zh }) => zh).join('、'), en: texts.map(({ en }) => en).join(', ') }
}
