import { useLocation } from '@tanstack/react-router'
import type { Section } from '../../../contract/options/define.ts'
import { useUrlState } from '../../lib/search-params.ts'

/** A tab of more sections shows them one at a time. */
const sectionsTogetherMax = 4

interface ShownSections {
  readonly shown: readonly Section[]
  /** The section that is open, if each is a page of its own. */
  readonly open: string | undefined
}

/**
 * The sections of a tab that the address opens: all of a short tab; otherwise that of the setting or section in its hash, which older
 * links name, or else in its search.
 */
export function useShownSections(declared: readonly Section[]): ShownSections {
  const { hash } = useLocation()
  const { values } = useUrlState({ section: '' })
  if (declared.length <= sectionsTogetherMax) return { shown: declared, open: undefined }
  const named = (name: string) => declared.find(({ place, options }) => place.name === name || name in options)
  const section = named(hash) ?? named(values.section) ?? declared[0]
  return { shown: section ? [section] : [], open: section?.place.name }
}
