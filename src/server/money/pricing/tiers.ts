import { numberIn } from '../../../contract/by-model.ts'
import type { Tier, TierMember } from '../../../contract/usage.ts'
import type { Price } from './quote.ts'

/** The tier in which a call is charged. Its factor is `tierFactor` of `quote.ts`; the ordinary tier needs none. Pure. */
type Factors = Pick<Price, 'tierFactors'>

/** The members of a requested tier that may cost more than the standard one and have no factor: they must not be sent. */
export function unpricedMembers({ tierFactors }: Factors, asked: Tier): TierMember[] {
  return membersOf(asked).filter((member) => {
    const value = asked[member] ?? ''
    return numberIn(tierFactors, value) === undefined && !cheap.has(value)
  })
}

/**
 * The tier to charge: the one in the reply, unless it is more expensive than the requested one. A missing or unknown report counts as
 * the requested tier. Undefined for the default tier.
 */
export function chargedTier(price: Factors, asked: Tier | undefined, served: Tier | undefined): Tier | undefined {
  const members = membersOf({ ...asked, ...served })
  const charged = members.flatMap((member) => {
    const value = chargedValue(price, asked?.[member], served?.[member])
    return value !== undefined && factorOf(price, value) !== 1 ? [[member, value] as const] : []
  })
  return charged.length === 0 ? undefined : Object.fromEntries(charged)
}

function chargedValue(price: Factors, asked: string | undefined, served: string | undefined): string | undefined {
  const servedFactor = served === undefined ? undefined : factorOf(price, served)
  const askedFactor = asked === undefined ? 1 : (factorOf(price, asked) ?? 1)
  return servedFactor !== undefined && servedFactor <= askedFactor ? served : asked
}

/** Undefined for a tier without a configured factor that vendors may sell above the ordinary price. */
function factorOf({ tierFactors }: Factors, value: string): number | undefined {
  return numberIn(tierFactors, value) ?? (cheap.has(value) ? 1 : undefined)
}

/** Tiers that no vendor sells above its ordinary price. */
const cheap: ReadonlySet<string> = new Set([
  'auto',
  'default',
  'standard',
  'standard_only',
  'on_demand',
  'unspecified',
  'global',
  'not_available',
  'flex',
  'batch',
  'background_2h',
  'background_8h',
  'scale',
])

function membersOf(tier: Tier): TierMember[] {
  // The keys of the declared type, for the values read here.
  return Object.keys(tier) as TierMember[]
}
