import { Box, Button } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import {
  type AlertParam,
  type AlertRule,
  alertRuleFields,
  alertRuleText,
  repeatSecondsDefault,
} from '../../../contract/entities/alert.ts'
import type { CallReply } from '../../lib/call.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { read, useWrite } from '../../lib/query.ts'
import { formatTime } from '../../lib/times.ts'
import { DrawerForm } from '../../ui/dialog/drawer-form.tsx'
import { FieldsForm } from '../../ui/form/fields-form.tsx'
import { Notice } from '../../ui/page/notice.tsx'
import shared from '../../ui/shared.module.css'
import styles from './alerts.module.css'
import { texts } from './texts.ts'
import { alertValue } from './units.ts'

const hourSeconds = 3600
const repeatHours = [1, 4, 12, 24]

interface Values {
  enabled: boolean
  /** Text while it is being typed. */
  params: Record<string, string>
  scope: string[]
  destinations: string[]
  repeat_seconds: string
  notify_recovery: boolean
}

/** The settings of one rule, with a preview of what they would have found. */
export function RuleForm({ rule: shown, onDone }: { rule: AlertRule; onDone: () => void }) {
  const say = useText(texts)
  const local = useLocal()
  const { rule } = shown
  const { label, params } = alertRuleText(rule)
  const { data: destinations = [] } = useQuery(read('GET /api/alert/destination/'))
  const form = useForm<Values>({ initialValues: valuesOf(shown) })
  const save = useWrite('PUT /api/alert/rule/:rule', {
    invalidates: ['GET /api/alert/rule/'],
    success: say('saved', { name: local(label) }),
    onSuccess: onDone,
  })
  const preview = useWrite('POST /api/alert/rule/:rule/preview')
  const asked = () => ({ params: numbersOf(params, form.values.params), scope: form.values.scope })
  const repeats = [0, ...new Set([...repeatHours, shown.repeat_seconds / hourSeconds])].filter(
    (hours, at, all) => all.indexOf(hours) === at,
  )

  return (
    <DrawerForm
      busy={save.isPending}
      dirty={form.isDirty()}
      onSubmit={form.onSubmit(({ enabled, destinations: ids, repeat_seconds, notify_recovery }) =>
        save.mutate({
          params: { rule },
          body: { ...asked(), enabled, destinations: ids.map(Number), repeat_seconds: Number(repeat_seconds), notify_recovery },
        }),
      )}
      second={
        <Button variant="default" loading={preview.isPending} onClick={() => preview.mutate({ params: { rule }, body: asked() })}>
          {say('preview')}
        </Button>
      }
    >
      <FieldsForm
        fields={alertRuleFields(rule)}
        form={form}
        inputs={{
          destinations: { data: destinations.map(({ id, name }) => ({ value: String(id), label: name })) },
          repeat_seconds: {
            data: repeats.map((count) => ({
              value: String(count * hourSeconds),
              label: count === 0 ? say('repeatNever') : say('repeatEvery', { count }),
            })),
          },
        }}
      />
      {preview.data ? (
        <Preview rule={shown} found={preview.data} />
      ) : (
        <Box component="p" my="sm" className={shared.note}>
          {say('previewHint')}
        </Box>
      )}
    </DrawerForm>
  )
}

function Preview({ rule: { rule }, found }: { rule: AlertRule; found: CallReply<'POST /api/alert/rule/:rule/preview'> }) {
  const say = useText(texts)
  const local = useLocal()
  const { unit } = alertRuleText(rule)
  const { count, since, firings } = found
  const verdict = count > 0 ? say('previewCount', { count }) : say(since === 0 ? 'previewNoData' : 'previewNone')
  return (
    <Notice kind={count > 0 ? 'warn' : 'info'} title={verdict}>
      {since > 0 && <span className={shared.note}>{say('previewSince', { time: formatTime(since) })}</span>}
      <ul className={styles.list}>
        {firings.slice(0, 10).map(({ subject, name, from, value }) => (
          <li key={`${subject} ${from}`}>
            <span>{formatTime(from)}</span>
            <span>{name || subject}</span>
            <strong>{alertValue(value, unit, local)}</strong>
          </li>
        ))}
      </ul>
    </Notice>
  )
}

function valuesOf({ enabled, params, scope, destinations, repeat_seconds, notify_recovery }: AlertRule): Values {
  return {
    enabled,
    params: Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)])),
    scope: [...scope],
    destinations: destinations.map(String),
    repeat_seconds: String(repeat_seconds ?? repeatSecondsDefault),
    notify_recovery,
  }
}

function numbersOf(params: readonly AlertParam[], typed: Values['params']): Record<string, number> {
  return Object.fromEntries(
    params.map(({ name, default: fallback }) => [name, typed[name] === '' ? fallback : Number(typed[name] ?? fallback)]),
  )
}
