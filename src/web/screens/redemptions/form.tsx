import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import {
  type Redemption,
  redemptionCountMax,
  redemptionDefaults,
  redemptionFields,
  redemptionNameLengthMax,
} from '../../../contract/entities/redemption.ts'
import { tokenPresets } from '../../../contract/entities/token.ts'
import { savedFields } from '../../../contract/fields.ts'
import { useQuotaFormat } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { read, useWrite } from '../../lib/query.ts'
import { DrawerForm, DrawerFormWaiting } from '../../ui/dialog/drawer-form.tsx'
import { useDollarOffers } from '../../ui/form/dollar-offers.ts'
import { ExpiryField, faultOfExpiry } from '../../ui/form/expiry-field.tsx'
import { FieldsForm } from '../../ui/form/fields-form.tsx'
import { ErrorView } from '../../ui/page/error-view.tsx'
import { showNewCodes } from './new-codes.tsx'
import { redemptionLists } from './redemption-lines.ts'
import { texts } from './texts.ts'

interface Values {
  name: string
  /** Text while it is being typed. */
  quota: number | string
  count: number | string
  /** Unix seconds; undefined is never. */
  expired_time: number | undefined
}

/** The form of new codes, or of the unused code with this id, which is loaded again each time. */
export function RedemptionForm({ id, onDone }: { id: number | undefined; onDone: () => void }) {
  const saved = useQuery({
    ...read('GET /api/redemption/:id', { params: { id: id ?? 0 } }),
    enabled: id !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  if (id === undefined || saved.data) return <Fields code={saved.data} onDone={onDone} />
  if (saved.error) return <ErrorView error={saved.error} onRetry={() => void saved.refetch()} />
  return <DrawerFormWaiting />
}

function Fields({ code, onDone }: { code: Redemption | undefined; onDone: () => void }) {
  const format = useQuotaFormat()
  const form = useForm<Values>({ initialValues: code ? valuesOf(code) : newCodes, validate: useFaults() })
  const { save, busy } = useSave(code, onDone)
  const { quota } = form.values
  const offers = useDollarOffers()(tokenPresets.usd, (units) => form.setFieldValue('quota', units))
  return (
    <DrawerForm busy={busy} dirty={form.isDirty()} onSubmit={form.onSubmit(save)}>
      <FieldsForm
        fields={code ? savedFields(redemptionFields) : redemptionFields}
        form={form}
        inputs={{
          name: { params: { name: format(Number(quota) || 0) }, isFirst: !code },
          quota: { offers },
        }}
        draw={{ expired_time: <ExpiryField offers={['day', 'month', 'year']} {...form.getInputProps('expired_time')} /> }}
      />
    </DrawerForm>
  )
}

function useSave(code: Redemption | undefined, onDone: () => void) {
  const say = useText(texts)
  const format = useQuotaFormat()
  const create = useWrite('POST /api/redemption/', {
    invalidates: redemptionLists,
    onSuccess: (keys, { body: { name, quota } }) => {
      onDone()
      showNewCodes({ keys, name, amount: format(quota) })
    },
  })
  const edit = useWrite('PUT /api/redemption/', {
    invalidates: redemptionLists,
    success: say('updated'),
    onSuccess: onDone,
  })

  function save({ name, quota, count, expired_time = 0 }: Values): void {
    const units = Number(quota)
    const body = { name: name.trim() || format(units), quota: units, expired_time }
    if (code) edit.mutate({ body: { ...body, id: code.id } })
    else create.mutate({ body: { ...body, count: Number(count) } })
  }
  return { save, busy: create.isPending || edit.isPending }
}

const newCodes: Values = { name: '', quota: redemptionDefaults.quota, count: redemptionDefaults.count, expired_time: undefined }

function valuesOf({ name, quota, expired_time }: Redemption): Values {
  return { name, quota, count: 1, expired_time: expired_time === 0 ? undefined : expired_time }
}

function useFaults() {
  const say = useText(texts)
  const isBetween = (typed: number | string, max: number) =>
    Number.isSafeInteger(Number(typed)) && Number(typed) >= 1 && Number(typed) <= max
  return {
    name: (name: string) =>
      [...name.trim()].length > redemptionNameLengthMax && say('nameLong', { max: redemptionNameLengthMax }),
    expired_time: (at: number | undefined) => faultOfExpiry(at),
    quota: (quota: number | string) => !isBetween(quota, Number.MAX_SAFE_INTEGER) && say('quotaInvalid'),
    count: (count: number | string) => !isBetween(count, redemptionCountMax) && say('countInvalid', { max: redemptionCountMax }),
  }
}
