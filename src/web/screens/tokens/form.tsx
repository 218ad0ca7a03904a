import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type Token, tokenFields, tokenPresets } from '../../../contract/entities/token.ts'
import { savedFields } from '../../../contract/fields.ts'
import { ApiError } from '../../lib/call.ts'
import { hasKey } from '../../lib/full-key.ts'
import { useText } from '../../lib/i18n.ts'
import { usePayer } from '../../lib/payer.ts'
import { useTokenPlaces } from '../../lib/places.ts'
import { read, useWrite } from '../../lib/query.ts'
import { toast } from '../../lib/toast.ts'
import { DrawerForm, DrawerFormWaiting } from '../../ui/dialog/drawer-form.tsx'
import { ExpiryField } from '../../ui/form/expiry-field.tsx'
import { FieldsForm } from '../../ui/form/fields-form.tsx'
import { ErrorView } from '../../ui/page/error-view.tsx'
import { bodyOf, faultsOf, fieldOfRefusal, newToken, placeOf, type TokenValues, valuesOf } from './form-values.ts'
import { GroupField } from './group-field.tsx'
import { LimitFields } from './limit-fields.tsx'
import { showNewKeys } from './new-keys.tsx'
import { QuotaField } from './quota-field.tsx'
import { texts } from './texts.ts'
import { tokenLists } from './token-lines.ts'
import { type Creation, useCreateTokens } from './use-create-tokens.ts'

/** The form of new tokens, or of the saved token with this id, which is loaded again each time. */
export function TokenForm({ id, onDone }: { id: number | undefined; onDone: () => void }) {
  const saved = useQuery({
    ...read('GET /api/token/:id', { params: { id: id ?? 0 } }),
    enabled: id !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  if (id === undefined || saved.data) return <Fields token={saved.data} onDone={onDone} />
  if (saved.error) return <ErrorView error={saved.error} onRetry={() => void saved.refetch()} />
  return <DrawerFormWaiting />
}

function Fields({ token, onDone }: { token: Token | undefined; onDone: () => void }) {
  const say = useText(texts)
  const isNew = token === undefined
  const payer = usePayer()
  const places = useTokenPlaces()
  const blank = { ...newToken, ...placeOf({ member_id: payer?.member_id }) }
  const form = useForm({ initialValues: token ? valuesOf(token) : blank, validate: faultsOf })
  const { save, busy, progress } = useSave({
    token,
    onDone,
    onRefused: (cause) => {
      const field = cause instanceof ApiError ? fieldOfRefusal[cause.code] : undefined
      if (field && cause instanceof ApiError) show({ [field]: cause.message })
      return field !== undefined
    },
  })

  const { model_limits_enabled: isLimited, model_limits: chosen } = form.values
  const models = useQuery({ ...read('GET /api/user/models'), enabled: isLimited })
  const offers = tokenPresets.counts.map((count) => ({
    label: say('countChoice', { count }),
    onClick: () => form.setFieldValue('count', count),
  }))

  function show(faults: Record<string, ReactNode>): void {
    form.setErrors(faults)
    const [first] = Object.keys(faults)
    if (first) form.getInputNode(first)?.focus()
  }

  return (
    <DrawerForm busy={busy} dirty={form.isDirty()} aside={progress} onSubmit={form.onSubmit(save, show)}>
      <FieldsForm
        fields={isNew ? tokenFields : savedFields(tokenFields)}
        form={form}
        inputs={{
          name: { isFirst: isNew },
          count: { offers },
          member_id: { data: [{ value: '0', label: say('nobody') }, ...places.members] },
          team_id: { data: [{ value: '0', label: say('noTeam') }, ...places.teams] },
          model_limits: { data: [...new Set([...(models.data ?? []), ...chosen])], clearable: true },
        }}
        draw={{
          ...(payer && places.isManager ? {} : { member_id: null }),
          ...(payer ? {} : { team_id: null }),
          remain_quota: <QuotaField form={form} />,
          expired_time: <ExpiryField offers={['hour', 'day', 'month']} {...form.getInputProps('expired_time')} />,
          group: <GroupField form={form} />,
          limit_seconds: <LimitFields form={form} />,
        }}
      />
    </DrawerForm>
  )
}

interface SaveInput {
  readonly token: Token | undefined
  readonly onDone: () => void
  /** Returns whether it showed the refusal at a field. */
  readonly onRefused: (cause: unknown) => boolean
}

function useSave({ token, onDone, onRefused }: SaveInput) {
  const say = useText(texts)
  const navigate = useNavigate()
  const { creation, done } = useCreateTokens()
  const edit = useWrite('PUT /api/token/', {
    invalidates: tokenLists,
    success: say('updated'),
    onSuccess: onDone,
    onFailure: onRefused,
  })
  const move = useWrite('POST /api/token/:id/move', { invalidates: tokenLists })

  async function finish({ made, refusal }: Creation, count: number): Promise<void> {
    const [first] = made
    if (!first) {
      if (!onRefused(refusal)) toast.failure(refusal)
      return
    }
    if (refusal !== undefined) {
      const reason = refusal instanceof Error ? refusal.message : String(refusal)
      toast.error(say('partly', { done: made.length, count, reason }))
    }
    onDone()
    const shown = made.filter(hasKey)
    // Its member finds the key in the own list.
    if (shown.length === 0) toast.success(say('createdForMember'))
    else if (await showNewKeys(shown)) await navigate({ to: '/connect', search: { token: first.id } })
  }

  /** A token is moved first: what it may do then is that of its new place. */
  function change(token: Token, values: TokenValues): void {
    const { member_id, team_id } = values
    const isMoved = member_id !== placeOf(token).member_id || team_id !== placeOf(token).team_id
    const rest = () => edit.mutate({ body: { ...bodyOf(values), id: token.id } })
    const body = { member_id: Number(member_id), team_id: Number(team_id) }
    if (isMoved) move.mutate({ params: { id: token.id }, body }, { onSuccess: rest })
    else rest()
  }

  function save(values: TokenValues): void {
    if (token) change(token, values)
    else creation.mutate(values, { onSuccess: (result) => void finish(result, Number(values.count)) })
  }

  const count = Number(creation.variables?.count ?? 1)
  const progress = creation.isPending && count > 1 && say('progress', { done, count })
  return { save, busy: creation.isPending || edit.isPending || move.isPending, progress }
}
