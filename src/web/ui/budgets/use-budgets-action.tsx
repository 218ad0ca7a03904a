import { IconGauge } from '@tabler/icons-react'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { defineTexts, useText } from '../../lib/i18n.ts'
import { actionIcon, type RowAction } from '../list/row-action.ts'
import type { BudgetsOf } from './budgets-dialog.tsx'

const BudgetsDialog = lazy(async () => ({ default: (await import('./budgets-dialog.tsx')).BudgetsDialog }))

/** The action of a row that shows its budgets, and the dialog that it opens. */
export function useBudgetsAction(of: BudgetsOf): { readonly action: RowAction; readonly dialog: ReactNode } {
  const say = useText(texts)
  const [opened, setOpened] = useState(false)
  return {
    action: { label: say('budgets'), icon: <IconGauge {...actionIcon} />, onClick: () => setOpened(true) },
    dialog: opened && (
      <Suspense>
        <BudgetsDialog of={of} onClose={() => setOpened(false)} />
      </Suspense>
    ),
  }
}

const texts = defineTexts({ budgets: ['预算', 'Budgets'] })
