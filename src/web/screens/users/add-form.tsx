import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { newUserFields } from '../../../contract/entities/user.ts'
import { useText } from '../../lib/i18n.ts'
import { read, useWrite } from '../../lib/query.ts'
import { DrawerForm } from '../../ui/dialog/drawer-form.tsx'
import { useDollarOffers } from '../../ui/form/dollar-offers.ts'
import { FieldsForm } from '../../ui/form/fields-form.tsx'
import { faultsOf } from './form-faults.ts'
import { showNewUser } from './new-user.tsx'
import { showAtField } from './refusals.ts'
import { texts } from './texts.ts'

interface Values {
  username: string
  display_name: string
  password: string
  group: string
  /** Units as text; '' for none. */
  quota: string
  daily_budget: string
  token_name: string
}

const newUser: Values = {
  ...{ username: '', display_name: '', password: '', group: 'default' },
  ...{ quota: '', daily_budget: '', token_name: 'default' },
}

const quotaOffers = [1, 5, 10, 50]
const budgetOffers = [1, 5, 10]

/** The form of a new ordinary user, ready to call. */
export function AddForm({ onDone }: { onDone: () => void }) {
  const say = useText(texts)
  const offersOf = useDollarOffers()
  const groups = useQuery(read('GET /api/group/'))
  const form = useForm<Values>({ initialValues: newUser, validate: (values) => faultsOf(newUserFields, values) })
  const save = useWrite('POST /api/user/', {
    invalidates: ['GET /api/user/search'],
    success: say('userCreated'),
    onSuccess: ({ token_key: tokenKey, username, quota }, { body: { password = '', provision } }) => {
      onDone()
      showNewUser({ username, password, quota, budget: provision?.daily_budget ?? 0, tokenKey })
    },
    onFailure: (cause) => showAtField(cause, form.setFieldError),
  })
  const submit = form.onSubmit(({ group, quota, daily_budget, token_name, ...account }) => {
    const provision = { group, quota: Number(quota), daily_budget: Number(daily_budget), token_name }
    save.mutate({ body: { ...account, provision } })
  })

  return (
    <DrawerForm busy={save.isPending} dirty={form.isDirty()} onSubmit={submit}>
      <FieldsForm
        fields={newUserFields}
        form={form}
        inputs={{
          username: { isFirst: true },
          password: { offers: [{ label: say('generate'), onClick: () => form.setFieldValue('password', randomPassword()) }] },
          group: { data: groups.data ?? ['default'] },
          quota: { offers: offersOf(quotaOffers, (quota) => form.setFieldValue('quota', String(quota))) },
          daily_budget: { offers: offersOf(budgetOffers, (quota) => form.setFieldValue('daily_budget', String(quota))) },
        }}
      />
    </DrawerForm>
  )
}

/** 16 letters and digits that cannot be mistaken for each other. */
function randomPassword(): string {
  const letters = 'abcdefghjkmnpqrstuvwxyzABCDEFGHJKMNPQRSTUVWXYZ23456789'
  const even = 256 - (256 % letters.length)
  const drawn: string[] = []
  while (drawn.length < 16) {
    for (const byte of crypto.getRandomValues(new Uint8Array(32)))
      if (byte < even) drawn.push(letters[byte % letters.length] ?? '')
  }
  return drawn.slice(0, 16).join('')
}
