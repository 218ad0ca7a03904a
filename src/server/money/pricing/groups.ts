import type { OptionValues } from '../../../contract/options/index.ts'
import type { Text } from '../../../contract/text.ts'
import { fail } from '../../base/lib/failure.ts'

type GroupOptions = Pick<OptionValues, 'GroupRatio' | 'UserUsableGroups'>

/** The group ratio. Members of a group that was removed from the options pay the plain price. */
export function groupRatio(options: GroupOptions, group: string): number {
  return options.GroupRatio[group] ?? 1
}

/** The groups that a user may choose for a token: those offered to everybody, and the user's own. */
export function usableGroups(options: GroupOptions, userGroup: string): Record<string, { ratio: number; desc: string }> {
  const offered = new Map(Object.entries(options.UserUsableGroups))
  if (!offered.has(userGroup)) offered.set(userGroup, '用户分组')

  const entries = Array.from(offered).flatMap(([group, desc]) => {
    const ratio = options.GroupRatio[group]
    return ratio === undefined ? [] : [[group, { ratio, desc }] as const]
  })
  return Object.fromEntries(entries)
}

/**
 * The groups whose channels serve a request, in the order to try them. A token without a group uses that of its owner; `auto` means
 * every group the owner may use, cheapest first. Throws `group_forbidden` when the owner may not, or no longer, use the token's group, and
 * `organisation_group_forbidden` when a place in the organisation allows none of them.
 */
export function groupsToTry(options: GroupOptions, caller: GroupCaller): string[] {
  const groups = ownGroups(options, caller)
  const { forbidsGroup } = caller
  if (!forbidsGroup) return groups
  const allowed = groups.filter((group) => !forbidsGroup(group))
  const [group = caller.userGroup] = groups
  if (allowed.length === 0) fail('organisation_group_forbidden', { group, place: forbidsGroup(group) ?? group })
  return allowed
}

interface GroupCaller {
  readonly userGroup: string
  readonly tokenGroup: string
  /** The place in an organisation that forbids a group to the token; absent for tokens of users. */
  readonly forbidsGroup?: ((group: string) => Text | undefined) | undefined
}

function ownGroups(options: GroupOptions, { userGroup, tokenGroup }: GroupCaller): string[] {
  if (tokenGroup === '' || tokenGroup === userGroup) return [userGroup]
  const usable = usableGroups(options, userGroup)

  if (tokenGroup === 'auto') {
    const groups = Object.entries(usable).sort(([, a], [, b]) => a.ratio - b.ratio)
    return groups.length > 0 ? groups.map(([group]) => group) : [userGroup]
  }
  if (!Object.hasOwn(usable, tokenGroup)) fail('group_forbidden', { group: tokenGroup })
  return [tokenGroup]
}
