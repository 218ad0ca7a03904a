import { type Incident, isEnded } from '../../../contract/entities/incident.ts'
import {
  type ServiceState,
  type StatusGroup,
  type StatusModel,
  type StatusPage,
  serviceStates,
  shareLevels,
  statusDays,
} from '../../../contract/entities/status-page.ts'
import { isAdmin } from '../../../contract/roles.ts'
import { fail } from '../../base/lib/failure.ts'
import type { Caller, Core } from '../../base/options/core.ts'
import { usableGroups } from '../../money/pricing/groups.ts'
import type { MeasuredOffer, Outcomes, StatusSnapshot } from './snapshot.ts'

type Reader = Pick<Caller, 'role' | 'group'> | undefined

/**
 * The status page as its reader may see it: the groups that the price list shows to that reader, all of them for an admin. Counts
 * of calls are left out. Throws `status_page_private`.
 */
export function viewOf({ options }: Pick<Core, 'options'>, snapshot: StatusSnapshot, reader: Reader): StatusPage {
  const { StatusPagePublicEnabled: isPublic, StatusPageVendorsEnabled: hasVendors } = options.current
  const admin = reader !== undefined && isAdmin(reader.role)
  if (!isPublic && !admin) fail('status_page_private')
  const described = groupsFor(options.current, reader)
  const visible = snapshot.offers.filter(({ group }) => described.has(group))
  const incidents = incidentsFor(snapshot.incidents, { visible, seesAll: admin })
  const current = snapshot.incidents.filter((each) => isCurrent(each))
  const groups = [...described].flatMap(([name, description]): StatusGroup[] => {
    const models = visible
      .filter(({ group }) => group === name)
      .map((offer) => modelOf(offer, { incidents: current, hasVendors: hasVendors || admin }))
    return models.length === 0 ? [] : [{ name, description, models }]
  })
  return {
    state: stateOfAll(
      groups.flatMap(({ models }) => models),
      incidents,
    ),
    updated_at: snapshot.updatedAt,
    first_day: snapshot.firstDay,
    is_public: isPublic,
    groups,
    incidents,
  }
}

/** The groups of a reader with their descriptions. */
function groupsFor(options: Core['options']['current'], reader: Reader): Map<string, string> {
  if (!reader && !options.PricingPublicEnabled) return new Map()
  const usable = Object.entries(usableGroups(options, reader?.group ?? '')).map(([name, { desc }]) => [name, desc] as const)
  if (!reader || !isAdmin(reader.role)) return new Map(usable)
  return new Map([...Object.keys(options.GroupRatio).map((name) => [name, ''] as const), ...usable])
}

function modelOf(
  offer: MeasuredOffer,
  { incidents, hasVendors }: { readonly incidents: readonly Incident[]; readonly hasVendors: boolean },
): StatusModel {
  const days = Array.from({ length: statusDays }, (_, day) => shareOf(offer.days.get(day)))
  const all = [...offer.days.values()]
  return {
    name: offer.model,
    state: stateOf(
      offer,
      incidents.filter((each) => affects(each, offer)),
    ),
    share: shareOf({ answered: total(all, 'answered'), failed: total(all, 'failed') }),
    days,
    vendors: hasVendors ? offer.vendors.map((label) => ({ ...label })) : [],
  }
}

function total(all: readonly Outcomes[], of: keyof Outcomes): number {
  return all.reduce((sum, each) => sum + each[of], 0)
}

/**
 * Rounded down, so that a single failure in a million is not hidden, and to four digits, so that it does not reveal the number of
 * calls.
 */
function shareOf(outcomes: Outcomes | undefined): number | null {
  if (!outcomes || outcomes.answered + outcomes.failed === 0) return null
  return Math.floor((outcomes.answered / (outcomes.answered + outcomes.failed)) * 10_000) / 10_000
}

const outageBelow = 0.5

function stateOf({ lately, isServed }: MeasuredOffer, incidents: readonly Incident[]): ServiceState {
  if (incidents.some(({ kind }) => kind === 'maintenance')) return 'maintenance'
  return worst([measuredState(shareOf(lately), isServed), ...incidents.map(declaredState)])
}

function measuredState(share: number | null, isServed: boolean): ServiceState {
  if (!isServed) return 'outage'
  if (share === null) return 'unknown'
  if (share < outageBelow) return 'outage'
  return share < shareLevels.poor ? 'degraded' : 'operational'
}

function declaredState({ impact }: Incident): ServiceState {
  return impact === 'none' ? 'unknown' : impact
}

function worst(states: readonly ServiceState[]): ServiceState {
  return states.reduce((one, other) => (serviceStates.indexOf(other) > serviceStates.indexOf(one) ? other : one), 'unknown')
}

/** Whether an incident is in progress. */
function isCurrent({ state }: Incident): boolean {
  return !isEnded(state) && state !== 'scheduled'
}

function affects({ groups, models }: Incident, { group, model }: Pick<MeasuredOffer, 'group' | 'model'>): boolean {
  return (groups.length === 0 || groups.includes(group)) && (models.length === 0 || models.includes(model))
}

/** The site is down when all models are down, and degraded when some are. */
function stateOfAll(models: readonly StatusModel[], incidents: readonly Incident[]): ServiceState {
  const known = models.map(({ state }) => state).filter((state) => state !== 'unknown')
  const current = incidents.filter(isCurrent)
  if (known.length === 0) {
    if (current.some(({ kind }) => kind === 'maintenance')) return 'maintenance'
    return worst(current.map(declaredState))
  }
  if (known.every((state) => state === 'outage')) return 'outage'
  const most = worst(known)
  return most === 'outage' ? 'degraded' : most
}

/** The incidents, each with only the groups and models that the reader may see; without those that only affect others. */
function incidentsFor(
  incidents: readonly Incident[],
  { visible, seesAll }: { readonly visible: readonly MeasuredOffer[]; readonly seesAll: boolean },
): Incident[] {
  if (seesAll) return [...incidents]
  const groups = new Set(visible.map(({ group }) => group))
  const models = new Set(visible.map(({ model }) => model))
  return incidents.flatMap((each) => {
    const shown = {
      ...each,
      groups: each.groups.filter((name) => groups.has(name)),
      models: each.models.filter((name) => models.has(name)),
    }
    const isOfOthers =
      (each.groups.length > 0 && shown.groups.length === 0) || (each.models.length > 0 && shown.models.length === 0)
    return isOfOthers ? [] : [shown]
  })
}
