import { useState } from 'react'
import { useMay } from '../../lib/session.ts'
import { BudgetForm } from '../../ui/budgets/budget-form.tsx'
import { SubjectField, type SubjectValue } from './subject-field.tsx'

/** The form of a new budget, with the field of its subject. */
export function NewBudget({ onDone }: { onDone: () => void }) {
  const isAdmin = useMay('admin')
  const [of, setOf] = useState<SubjectValue>({ scope: isAdmin ? 'user' : 'token', subject: '' })
  return <BudgetForm of={of} subject={<SubjectField value={of} onChange={setOf} />} onDone={onDone} />
}
