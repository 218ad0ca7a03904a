import { useQuery } from '@tanstack/react-query'
import type { Section } from '../../../contract/options/define.ts'
import type { OptionTab } from './tabs.ts'

const tabs: Record<OptionTab, () => Promise<{ sections: readonly Section[] }>> = {
  operation: () => import('../../../contract/options/tabs/operation.ts'),
  prices: () => import('../../../contract/options/tabs/prices.ts'),
  ratelimit: () => import('../../../contract/options/tabs/ratelimit.ts'),
  models: () => import('../../../contract/options/tabs/models.ts'),
  system: () => import('../../../contract/options/tabs/system.ts'),
  other: () => import('../../../contract/options/tabs/other.ts'),
}

const kept = { staleTime: Number.POSITIVE_INFINITY, gcTime: Number.POSITIVE_INFINITY }

/** The declared options of a tab. */
export function useSections(tab: OptionTab) {
  return useQuery({ ...kept, queryKey: ['declared options', tab], queryFn: async () => (await tabs[tab]()).sections })
}

/** The options of all tabs, which are loaded with the first search. */
export function useAllSections(isSearch: boolean) {
  return useQuery({
    ...kept,
    queryKey: ['declared options'],
    queryFn: async (): Promise<readonly Section[]> => (await import('../../../contract/options/index.ts')).sections,
    enabled: isSearch,
  })
}
