import { Button, Stack } from '@mantine/core'
import { IconBellOff, IconPencil, IconSend } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, useState } from 'react'
import { type AlertRule, alertRuleText } from '../../../contract/entities/alert.ts'
import { call } from '../../lib/call.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { invalidate, read, useWrite } from '../../lib/query.ts'
import { toast } from '../../lib/toast.ts'
import { SideDrawer } from '../../ui/dialog/side-drawer.tsx'
import { DataTable } from '../../ui/list/data-table.tsx'
import { useList } from '../../ui/list/list-rows.ts'
import type { Column } from '../../ui/list/listing.ts'
import { actionIcon, type RowAction } from '../../ui/list/row-action.ts'
import { RowActions } from '../../ui/list/row-actions.tsx'
import { toggleAction } from '../../ui/list/row-common-actions.tsx'
import { Notice } from '../../ui/page/notice.tsx'
import shared from '../../ui/shared.module.css'
import { HintTag } from '../../ui/view/status-tag.tsx'
import { Tag } from '../../ui/view/tag.tsx'
import styles from './alerts.module.css'
import { SilencesPanel } from './silences-panel.tsx'
import { texts } from './texts.ts'
import { alertValue } from './units.ts'

const RuleForm = lazy(async () => ({ default: (await import('./rule-form.tsx')).RuleForm }))
const SilenceForm = lazy(async () => ({ default: (await import('./silence-form.tsx')).SilenceForm }))

type Opened = { readonly edit: AlertRule } | { readonly silence: AlertRule | undefined }

/** The rules with their state, and the silences. */
export function RulesTab() {
  const say = useText(texts)
  const local = useLocal()
  const list = useList('GET /api/alert/rule/', {}, { every: 15_000 })
  const [opened, setOpened] = useState<Opened>()
  const close = () => setOpened(undefined)
  return (
    <Stack gap="lg">
      <Recommended rules={list.rows ?? []} />
      <DataTable
        label={say('tabRules')}
        columns={useColumns()}
        {...list}
        rowKey={({ rule }) => rule}
        isMuted={({ enabled }) => !enabled}
        rowActions={(rule) => (
          <Actions rule={rule} onEdit={() => setOpened({ edit: rule })} onSilence={() => setOpened({ silence: rule })} />
        )}
      />
      <SilencesPanel onAdd={() => setOpened({ silence: undefined })} />
      <SideDrawer
        subject={opened}
        title={(shown) => ('edit' in shown ? local(alertRuleText(shown.edit.rule).label) : say('addSilence'))}
        onClose={close}
      >
        {(shown) =>
          'edit' in shown ? (
            <RuleForm rule={shown.edit} onDone={close} />
          ) : (
            <SilenceForm rule={shown.silence?.rule} onDone={close} />
          )
        }
      </SideDrawer>
    </Stack>
  )
}

/** On a site without any rule, those that every site should have are enabled by one click. */
function Recommended({ rules }: { rules: readonly AlertRule[] }) {
  const say = useText(texts)
  const local = useLocal()
  const client = useQueryClient()
  const [isBusy, setBusy] = useState(false)
  const recommended = rules.filter(({ rule }) => alertRuleText(rule).isRecommended)
  if (recommended.length === 0 || rules.some(({ enabled }) => enabled)) return null

  async function enable(): Promise<void> {
    setBusy(true)
    try {
      for (const { rule, firing: _firing, ...settings } of recommended)
        await call('PUT /api/alert/rule/:rule', { params: { rule }, body: { ...settings, enabled: true } })
      toast.success(say('recommendedDone', { count: recommended.length }))
    } catch (cause) {
      toast.failure(cause)
    } finally {
      setBusy(false)
      await invalidate(client, ['GET /api/alert/rule/'])
    }
  }

  return (
    <Notice
      title={say('recommended')}
      action={
        <Button size="compact-md" loading={isBusy} onClick={() => void enable()}>
          {say('recommendedEnable')}
        </Button>
      }
    >
      {recommended.map(({ rule }) => local(alertRuleText(rule).label)).join(' · ')}
    </Notice>
  )
}

function useColumns(): Column<AlertRule>[] {
  const say = useText(texts)
  const local = useLocal()
  const { data: destinations } = useQuery(read('GET /api/alert/destination/'))
  const names = new Map(destinations?.map(({ id, name }) => [id, name]))
  return [
    {
      key: 'rule',
      title: say('rule'),
      heads: true,
      cell: ({ rule }) => (
        <span className={shared.stacked}>
          {local(alertRuleText(rule).label)}
          <small className={`${shared.note} ${styles.help}`}>{local(alertRuleText(rule).help)}</small>
        </span>
      ),
    },
    { key: 'state', title: say('state'), inCard: 'state', cell: (rule) => <State rule={rule} /> },
    { key: 'condition', title: say('threshold'), inCard: 'figure', cell: (rule) => <Condition rule={rule} /> },
    {
      key: 'destinations',
      title: say('sentTo'),
      inCard: 'figure',
      cell: ({ destinations: ids }) => {
        const known = ids.flatMap((id) => names.get(id) ?? [])
        return known.length === 0 ? <span className={shared.note}>{say('nowhere')}</span> : known.join(', ')
      },
    },
  ]
}

function State({ rule: { enabled, firing } }: { rule: AlertRule }) {
  const say = useText(texts)
  if (!enabled) return <Tag>{say('off')}</Tag>
  if (firing.length === 0)
    return (
      <Tag dot color="green">
        {say('ok')}
      </Tag>
    )
  const hint = firing
    .slice(0, 10)
    .map(({ name, subject }) => name || subject)
    .join(', ')
  return (
    <HintTag dot color="red" hint={hint}>
      {say('firing', { count: firing.length })}
    </HintTag>
  )
}

function Condition({ rule: { rule, params } }: { rule: AlertRule }) {
  const say = useText(texts)
  const local = useLocal()
  const { fires, unit, params: declared } = alertRuleText(rule)
  const [threshold] = declared
  if (!threshold) return say('any')
  return say(fires, { value: alertValue(params[threshold.name] ?? threshold.default, unit, local) })
}

function Actions({ rule, onEdit, onSilence }: { rule: AlertRule; onEdit: () => void; onSilence: () => void }) {
  const say = useText(texts)
  const local = useLocal()
  const name = local(alertRuleText(rule.rule).label)
  const save = useWrite('PUT /api/alert/rule/:rule', { invalidates: ['GET /api/alert/rule/'], success: say('saved', { name }) })
  const test = useWrite('POST /api/alert/rule/:rule/test', {
    invalidates: ['GET /api/alert/delivery/'],
    onSuccess: (answers) => {
      const bad = answers.filter(({ delivered }) => !delivered)
      if (answers.length === 0) toast.warn(say('testNone'))
      else if (bad.length === 0) toast.success(`${say('delivered')} (${answers.length})`)
      else
        toast.error(`${say('notDelivered')}: ${bad.map(({ status, answer }) => `${status || ''} ${answer}`.trim()).join('; ')}`)
    },
  })
  const { rule: id, firing: _firing, ...settings } = rule
  const actions: RowAction[] = [
    { label: say('edit'), icon: <IconPencil {...actionIcon} />, primary: true, onClick: onEdit },
    toggleAction(say, {
      isOn: rule.enabled,
      disabled: save.isPending,
      onClick: () => save.mutate({ params: { rule: id }, body: { ...settings, enabled: !rule.enabled } }),
    }),
    {
      label: say('test'),
      icon: <IconSend {...actionIcon} />,
      disabled: test.isPending,
      onClick: () => test.mutate({ params: { rule: id } }),
    },
    { label: say('silence'), icon: <IconBellOff {...actionIcon} />, onClick: onSilence },
  ]
  return <RowActions name={name} actions={actions} />
}
