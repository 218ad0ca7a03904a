import { organisationCallerLabels, organisationRoles } from '../../../contract/organisation-roles.ts'
import { useLocal } from '../../lib/i18n.ts'
import type { Payer } from '../../lib/payer.ts'

/** The roles that the caller may give: only owners make owners. */
export function useRoleChoices({ role: own }: Payer) {
  const local = useLocal()
  return organisationRoles
    .filter((role) => role !== 'owner' || own !== 'admin')
    .map((value) => ({ value, label: local(organisationCallerLabels[value]) }))
}
