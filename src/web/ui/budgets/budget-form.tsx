import { Select } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { ReactNode } from 'react'
import {
  type Budget,
  type BudgetInput,
  type BudgetPeriod,
  type BudgetScope,
  budgetFields,
  budgetPeriodLabels,
} from '../../../contract/entities/budget.ts'
import { limitSecondsMax } from '../../../contract/entities/request-limit.ts'
import { blankFaults } from '../../../contract/fields.ts'
import { localOf, textOf, useLocal, useText } from '../../lib/i18n.ts'
import { useStatus } from '../../lib/status.ts'
import { DrawerForm } from '../dialog/drawer-form.tsx'
import { useDollarOffers } from '../form/dollar-offers.ts'
import { FieldsForm } from '../form/fields-form.tsx'
import { DurationInput } from '../form/request-limits/duration-input.tsx'
import { texts } from './texts.ts'
import { amountsUsd, calendarPeriods, slidingPresets } from './windows.ts'
import { useBudgetWrites } from './writes.ts'

interface Values {
  /** Units, or the invalid text that was typed. */
  amount: string
  /** A period, `sliding:<seconds>`, or `custom`. */
  window: string
  seconds: number | string
  is_hard: boolean
  shares: string[]
  name: string
}

interface BudgetFormProps {
  /** The budget to change; undefined for a new one of `of`. */
  readonly budget?: Budget | undefined
  /** Undefined while nothing is chosen. */
  readonly of?: { readonly scope: BudgetScope; readonly subject: string } | undefined
  /** The field of the subject, if the subject of a new budget is to be chosen. */
  readonly subject?: ReactNode
  readonly onDone: () => void
}

/** The form of a new budget, or of this one, whose window is fixed. */
export function BudgetForm({ budget, of, subject, onDone }: BudgetFormProps) {
  const say = useText(texts)
  const { quota_per_unit: perUsd } = useStatus()
  const form = useForm<Values>({ initialValues: budget ? valuesOf(budget) : newBudget(perUsd), validate: faultsOf })
  const offers = useDollarOffers()(amountsUsd, (quota) => form.setFieldValue('amount', String(quota)))
  const { create, change, isPending } = useBudgetWrites({ success: say('saved'), onSuccess: onDone })

  function save(values: Values): void {
    const body = {
      ...{ name: values.name, amount: Math.round(Number(values.amount)), is_hard: values.is_hard },
      shares: values.shares.map((share) => Number.parseInt(share, 10)),
    }
    if (budget) change(budget.id, body)
    else if (of) create({ ...of, ...body, ...windowIn(values) })
  }
  return (
    <DrawerForm busy={isPending} dirty={form.isDirty()} onSubmit={form.onSubmit(save)}>
      {subject}
      <FieldsForm
        fields={budgetFields}
        form={form}
        inputs={{ amount: { offers }, shares: { data: ['50%', '80%', '90%', '100%'] } }}
        draw={{ window: <WindowField form={form} isFixed={budget !== undefined} /> }}
      />
    </DrawerForm>
  )
}

type FormState = Pick<ReturnType<typeof useForm<Values>>, 'values' | 'getInputProps'>

function WindowField({ form, isFixed }: { form: FormState; isFixed: boolean }) {
  const say = useText(texts)
  const local = useLocal()
  return (
    <>
      <Select
        label={say('window')}
        description={say(isFixed ? 'windowFixed' : 'windowHelp')}
        allowDeselect={false}
        disabled={isFixed}
        data={[
          ...calendarPeriods.map((period) => ({ value: period, label: local(budgetPeriodLabels[period]) })),
          ...slidingPresets.map(({ seconds, label }) => ({ value: `sliding:${seconds}`, label: say(label) })),
          { value: 'custom', label: say('custom') },
        ]}
        {...form.getInputProps('window')}
      />
      {form.values.window === 'custom' && (
        <DurationInput label={say('length')} disabled={isFixed} {...form.getInputProps('seconds')} />
      )}
    </>
  )
}

const newBudget = (perUsd: number): Values => ({
  ...{ amount: String(Math.round(10 * perUsd)), window: 'month', seconds: 7200 },
  ...{ is_hard: true, shares: ['80%'], name: '' },
})

function valuesOf(budget: Budget): Values {
  const { amount, period, seconds, is_hard, shares, name } = budget
  const isPreset = slidingPresets.some((each) => each.seconds === seconds)
  const window = period !== 'sliding' ? period : isPreset ? `sliding:${seconds}` : 'custom'
  return { amount: String(amount), window, seconds, is_hard, shares: shares.map((share) => `${share}%`), name }
}

function windowIn({ window, seconds }: Values): Pick<BudgetInput, 'period' | 'seconds'> {
  if (window === 'custom') return { period: 'sliding', seconds: Number(seconds) }
  const [period = 'day', length = '0'] = window.split(':')
  // The choices of the field are periods.
  return { period: period as BudgetPeriod, seconds: Number(length) }
}

function faultsOf(values: Values): Record<string, string> {
  const seconds = Number(values.seconds)
  const isLengthWrong = values.window === 'custom' && !(seconds >= 1 && seconds <= limitSecondsMax)
  const areSharesWrong = values.shares.some((share) => !/^(100|[1-9]\d?)\s*%?$/.test(share))
  return {
    ...blankFaults(budgetFields, values, localOf),
    ...(isLengthWrong ? { seconds: textOf(texts, 'secondsInvalid') } : {}),
    ...(areSharesWrong ? { shares: textOf(texts, 'sharesInvalid') } : {}),
  }
}
