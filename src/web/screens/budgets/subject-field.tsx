import { Autocomplete, Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { budgetScopeLabels, type SiteBudgetScope, siteBudgetScopes } from '../../../contract/entities/budget.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { useMay } from '../../lib/session.ts'
import { rowsOf } from '../../ui/list/listing.ts'
import { texts } from './texts.ts'

export interface SubjectValue {
  readonly scope: SiteBudgetScope
  readonly subject: string
}

interface FieldProps {
  readonly value: SubjectValue
  readonly onChange: (value: SubjectValue) => void
}

/** The subject of a new budget. */
export function SubjectField({ value, onChange }: FieldProps) {
  const say = useText(texts)
  const local = useLocal()
  const isAdmin = useMay('admin')
  const scopes = isAdmin ? siteBudgetScopes : (['token'] as const)
  const { scope, subject } = value
  const choose = (chosen: string | null) => onChange({ scope, subject: chosen ?? '' })
  return (
    <>
      {isAdmin && (
        <Select
          label={say('scope')}
          allowDeselect={false}
          data={scopes.map((each) => ({ value: each, label: local(budgetScopeLabels[each]) }))}
          value={scope}
          // The choices are scopes.
          onChange={(chosen) => onChange({ scope: chosen as SiteBudgetScope, subject: '' })}
        />
      )}
      {scope === 'model' ? (
        <ModelField subject={subject} onChange={choose} />
      ) : (
        <SearchField key={scope} scope={scope} subject={subject} onChange={choose} />
      )}
    </>
  )
}

interface ChoiceProps {
  readonly subject: string
  readonly onChange: (subject: string | null) => void
}

function ModelField({ subject, onChange }: ChoiceProps) {
  const local = useLocal()
  const models = useQuery(read('GET /api/user/models'))
  return (
    <Autocomplete
      label={local(budgetScopeLabels.model)}
      withAsterisk
      limit={50}
      data={[...new Set(models.data)]}
      value={subject}
      onChange={onChange}
    />
  )
}

function SearchField({ scope, subject, onChange }: ChoiceProps & { readonly scope: Exclude<SiteBudgetScope, 'model'> }) {
  const say = useText(texts)
  const local = useLocal()
  const [typed, setTyped] = useState('')
  const offers = useOffers(scope, typed)
  return (
    <Select
      label={local(budgetScopeLabels[scope])}
      placeholder={say('choose')}
      withAsterisk
      searchable
      data={offers}
      filter={scope === 'group' ? undefined : ({ options }) => options}
      value={subject === '' ? null : subject}
      onChange={onChange}
      onSearchChange={setTyped}
    />
  )
}

interface Offer {
  readonly value: string
  readonly label: string
}

/** A chosen name is displayed with its id, which the search must leave out. */
function useOffers(scope: Exclude<SiteBudgetScope, 'model'>, typed: string): Offer[] {
  const keyword = typed.replace(/ #\d+$/, '')
  const users = useQuery({
    ...read('GET /api/user/search', {
      query: { keyword, p: 1, page_size: 20, role: 0, status: 0, deleted: false, ascending: false },
    }),
    enabled: scope === 'user',
  })
  const channels = useQuery({
    ...read('GET /api/channel/search', { query: { keyword, p: 0, page_size: 20, status: 0, type: 0 } }),
    enabled: scope === 'channel',
  })
  const tokens = useQuery({
    ...read('GET /api/token/search', { query: { keyword, p: 0, size: 20, status: 0 } }),
    enabled: scope === 'token',
  })
  const groups = useQuery({ ...read('GET /api/group/'), enabled: scope === 'group' })
  const named = ({ id, name }: { id: number; name: string }): Offer => ({ value: String(id), label: `${name} #${id}` })
  switch (scope) {
    case 'user':
      return (users.data?.items ?? []).map(({ id, username }) => named({ id, name: username }))
    case 'channel':
      return rowsOf(channels.data).map(named)
    case 'token':
      return rowsOf(tokens.data).map(named)
    case 'group':
      return (groups.data ?? []).map((name) => ({ value: name, label: name }))
  }
}
