import { ActionIcon, Button, Progress } from '@mantine/core'
import { IconArrowUpRight, IconChevronRight, IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { budgetScopeLabels, type OrganisationBudget } from '../../../../contract/entities/budget.ts'
import { useQuotaFormat } from '../../../lib/format.ts'
import { useLocal, useText } from '../../../lib/i18n.ts'
import { formatTime, nowSeconds } from '../../../lib/times.ts'
import { BudgetActions } from '../../../ui/budgets/budget-actions.tsx'
import { amountOf, useWindowText } from '../../../ui/budgets/windows.ts'
import shared from '../../../ui/shared.module.css'
import styles from './budgets.module.css'
import { texts } from './texts.ts'
import { countBudgets, forecastOf, type Place } from './tree.ts'

interface TreeProps {
  readonly root: Place
  /** The caller asks others for greater budgets. */
  readonly mayAsk: boolean
  readonly onAdd: (place: Place) => void
  readonly onEdit: (budget: OrganisationBudget) => void
  readonly onRaise: (budget: OrganisationBudget) => void
}

export function PlaceTree({ root, ...acts }: TreeProps) {
  return (
    <ul className={styles.tree}>
      <PlaceView place={root} level={0} {...acts} />
    </ul>
  )
}

/** Two levels are open at first: the organisation, and what is directly below it. */
const openLevels = 2

function PlaceView({ place, level, ...acts }: Omit<TreeProps, 'root'> & { readonly place: Place; readonly level: number }) {
  const say = useText(texts)
  const local = useLocal()
  const [opened, setOpened] = useState(level < openLevels)
  const { name, scope, budgets, below, mayAdd } = place
  const hidden = opened ? 0 : countBudgets(place) - budgets.length
  return (
    <li className={styles.place}>
      <div className={styles.head}>
        {below.length > 0 ? (
          <ActionIcon
            size="sm"
            className={styles.toggle ?? ''}
            aria-expanded={opened}
            aria-label={say(opened ? 'collapse' : 'expand', { name })}
            onClick={() => setOpened(!opened)}
          >
            <IconChevronRight size={16} />
          </ActionIcon>
        ) : (
          <span className={styles.leaf} />
        )}
        <span className={styles.name}>
          <small className={shared.quiet}>{local(budgetScopeLabels[scope])}</small> <strong>{name}</strong>{' '}
          {budgets.length === 0 && <small className={shared.quiet}>{say('none')}</small>}{' '}
          {hidden > 0 && <small className={shared.quiet}>{say('below', { count: hidden })}</small>}
        </span>
        {mayAdd && (
          <ActionIcon aria-label={say('addTo', { name })} title={say('add')} onClick={() => acts.onAdd(place)}>
            <IconPlus size={16} />
          </ActionIcon>
        )}
      </div>
      {budgets.length > 0 && (
        <div className={styles.budgets}>
          {budgets.map((budget) => (
            <BudgetView key={budget.id} budget={budget} {...acts} />
          ))}
        </div>
      )}
      {opened && below.length > 0 && (
        <ul>
          {below.map((each) => (
            <PlaceView key={`${each.scope} ${each.subject}`} place={each} level={level + 1} {...acts} />
          ))}
        </ul>
      )}
    </li>
  )
}

type BudgetProps = Pick<TreeProps, 'mayAsk' | 'onEdit' | 'onRaise'> & { readonly budget: OrganisationBudget }

/** What is used, held and left of one budget, and where it will end. */
function BudgetView({ budget, mayAsk, onEdit, onRaise }: BudgetProps) {
  const say = useText(texts)
  const { may_manage: mayManage, subject_name: name } = budget
  return (
    <div className={styles.budget}>
      <Figures budget={budget} />
      <Bar budget={budget} />
      <div className={styles.actions}>
        {mayManage && <BudgetActions budget={budget} onEdit={() => onEdit(budget)} />}
        {mayAsk && !mayManage && (
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconArrowUpRight size={14} />}
            aria-label={say('raiseOf', { name })}
            onClick={() => onRaise(budget)}
          >
            {say('raise')}
          </Button>
        )}
      </div>
    </div>
  )
}

function Figures({ budget }: { budget: OrganisationBudget }) {
  const say = useText(texts)
  const format = useQuotaFormat()
  const period = useWindowText()(budget)
  const { spent, held, is_hard: isHard, renews_at: at, name, override } = budget
  const amount = amountOf(budget, nowSeconds())
  const forecast = forecastOf(budget, nowSeconds())
  const isOver = forecast !== undefined && forecast > amount
  return (
    <div className={styles.figures}>
      <span className={shared.figure}>{say('used', { amount: format(spent) })}</span>
      {held > 0 && <span className={shared.figure}>{say('held', { amount: format(held) })}</span>}
      <span className={shared.figure}>{say('left', { amount: format(Math.max(0, amount - spent - held)) })}</span>
      <span className={shared.quiet}>{say('of', { amount: format(amount), period })}</span>
      {override && amount === override.amount && <span className={shared.quiet}>{say('temporary')}</span>}
      {forecast !== undefined && (
        <span className={isOver ? styles.over : shared.quiet}>
          {say(isOver ? 'overForecast' : 'forecast', { amount: format(forecast) })}
        </span>
      )}
      {at > 0 && <span className={shared.quiet}>{say('renews', { time: formatTime(at) })}</span>}
      {!isHard && <span className={shared.quiet}>{say('soft')}</span>}
      {name !== '' && <span className={shared.quiet}>{name}</span>}
    </div>
  )
}

function Bar({ budget }: { budget: OrganisationBudget }) {
  const say = useText(texts)
  const format = useQuotaFormat()
  const { spent, held } = budget
  const amount = amountOf(budget, nowSeconds())
  const share = (units: number) => (amount === 0 ? 100 : Math.min(100, (units / amount) * 100))
  const used = share(spent)
  const color = used >= 100 ? 'red' : used >= 80 ? 'orange' : 'sluice'
  const forecast = forecastOf(budget, nowSeconds())
  return (
    <div className={styles.bar}>
      <Progress.Root size="sm">
        <Progress.Section value={used} color={color} aria-label={say('used', { amount: format(spent) })} />
        {held > 0 && (
          <Progress.Section
            value={Math.min(100 - used, share(held))}
            color="gray"
            striped
            aria-label={say('held', { amount: format(held) })}
          />
        )}
      </Progress.Root>
      {forecast !== undefined && forecast > spent && (
        <span className={styles.forecast} style={{ left: `calc(${share(forecast)}% - 1px)` }} aria-hidden="true" />
      )}
    </div>
  )
}
