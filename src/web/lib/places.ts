import { useQuery } from '@tanstack/react-query'
import type { Team } from '../../contract/entities/organisation.ts'
import { usePayer } from './payer.ts'
import { read } from './query.ts'
import { useSession } from './session.ts'

/** The teams and members of an organisation, for fields and columns that name them. */

interface Choice {
  readonly value: string
  readonly label: string
}

/** Members that a choice offers; the others are found by typing. */
const offeredMax = 100

export function useTeams(organisation: number | undefined): readonly Team[] {
  const found = useQuery({
    ...read('GET /api/organisation/:id/teams', { params: { id: organisation ?? 0 } }),
    enabled: organisation !== undefined,
    // Others change them too, and a choice must have all.
    refetchOnMount: 'always',
  })
  return found.data ?? noTeams
}
const noTeams: readonly Team[] = []

export function useMembers(organisation: number | undefined, keyword = '') {
  const found = useQuery({
    ...read('GET /api/organisation/:id/members', {
      params: { id: organisation ?? 0 },
      query: { p: 1, page_size: offeredMax, keyword, team_id: 0 },
    }),
    enabled: organisation !== undefined,
    refetchOnMount: 'always',
  })
  return found.data?.items ?? []
}

/** Each team with those above it: `Research / Vision`. */
export function teamChoices(teams: readonly Team[]): Choice[] {
  const paths = new Map<number, string>()
  return teams.map(({ id, name, parent_id }) => {
    const above = paths.get(parent_id)
    const path = above === undefined ? name : `${above} / ${name}`
    paths.set(id, path)
    return { value: String(id), label: path }
  })
}

/** Where the user may put tokens of the organisation that pays: as the server decides it. */
export function useTokenPlaces() {
  const payer = usePayer()
  const user = useSession()
  const teams = useTeams(payer?.id)
  const managesAll = payer?.role === 'owner' || payer?.role === 'admin'
  const managed = teams.filter(({ may_manage }) => may_manage)
  const isManager = managesAll || managed.length > 0
  const members = useMembers(isManager ? payer?.id : undefined)
  const self = useMembers(payer?.id, user?.username).find(({ id }) => id === payer?.member_id)
  const own = new Set(self?.teams.map(({ id }) => id))
  return {
    isManager,
    members: members.map(({ id, username }) => ({ value: String(id), label: username })),
    teams: teamChoices(teams).filter((_, place) => {
      const team = teams[place]
      return team !== undefined && (managesAll || team.may_manage || own.has(team.id))
    }),
  }
}
