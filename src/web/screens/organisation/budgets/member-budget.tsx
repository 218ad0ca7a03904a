import { Select } from '@mantine/core'
import { useState } from 'react'
import { useText } from '../../../lib/i18n.ts'
import type { Payer } from '../../../lib/payer.ts'
import { useMembers } from '../../../lib/places.ts'
import { BudgetForm } from '../../../ui/budgets/budget-form.tsx'
import { texts } from './texts.ts'

/** The form of a new budget of a member, with the choice of the member. */
export function MemberBudget({ payer, onDone }: { payer: Payer; onDone: () => void }) {
  const say = useText(texts)
  const [typed, setTyped] = useState('')
  const [subject, setSubject] = useState<string | null>(null)
  const members = useMembers(payer.id, typed)
  const field = (
    <Select
      label={say('member')}
      withAsterisk
      searchable
      data={members.map(({ id, username }) => ({ value: String(id), label: username }))}
      filter={({ options }) => options}
      value={subject}
      onChange={setSubject}
      onSearchChange={setTyped}
    />
  )
  return <BudgetForm of={subject === null ? undefined : { scope: 'member', subject }} subject={field} onDone={onDone} />
}
