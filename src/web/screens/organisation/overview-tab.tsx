import { Button, Skeleton } from '@mantine/core'
import { IconLogout, IconPencil } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Organisation, organisationStatusLabels } from '../../../contract/entities/organisation.ts'
import { organisationCallerLabels } from '../../../contract/organisation-roles.ts'
import { formatCount } from '../../lib/format.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { type Payer, switchPayer } from '../../lib/payer.ts'
import { read, useWrite } from '../../lib/query.ts'
import { SideDrawer } from '../../ui/dialog/side-drawer.tsx'
import { perform } from '../../ui/list/row-action.ts'
import { ErrorView } from '../../ui/page/error-view.tsx'
import { Facts } from '../../ui/page/facts.tsx'
import { Notice } from '../../ui/page/notice.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import { QuotaText } from '../../ui/view/quota-text.tsx'
import { StatusTag } from '../../ui/view/status-tag.tsx'
import { TimeText } from '../../ui/view/time-text.tsx'
import styles from './organisation.module.css'
import { RenameForm } from './rename-form.tsx'
import { texts } from './texts.ts'
import { OfferedNotice, TransferPanel } from './transfer-panel.tsx'

export function OverviewTab({ payer }: { payer: Payer }) {
  const found = useQuery(read('GET /api/organisation/:id', { params: { id: payer.id } }))
  if (found.error) return <ErrorView error={found.error} onRetry={() => void found.refetch()} />
  return found.data ? <Overview organisation={found.data} /> : <Skeleton height={240} />
}

function Overview({ organisation }: { organisation: Organisation }) {
  const say = useText(texts)
  const local = useLocal()
  const [renaming, setRenaming] = useState<Organisation>()
  const { quota, used_quota, request_count, members, name, username, group, status, role, created_time } = organisation
  const isOwner = role === 'owner' || role === 'operator'
  return (
    <div className={styles.stack}>
      {status !== 1 && <Notice kind="warn">{say('suspended')}</Notice>}
      <OfferedNotice organisation={organisation} />
      <Panel>
        <Facts
          large
          facts={[
            { label: say('balance'), value: <QuotaText units={quota} /> },
            { label: say('used'), value: <QuotaText units={used_quota} /> },
            { label: say('requests'), value: formatCount(request_count) },
            { label: say('members'), value: formatCount(members) },
          ]}
        />
      </Panel>
      <div className={styles.columns}>
        <Panel
          title={say('account')}
          footer={
            <>
              {role !== 'operator' && <LeaveButton organisation={organisation} />}
              {isOwner && (
                <Button variant="default" leftSection={<IconPencil size={16} />} onClick={() => setRenaming(organisation)}>
                  {say('rename')}
                </Button>
              )}
            </>
          }
        >
          <Facts
            facts={[
              { label: say('name'), value: name },
              { label: say('inLog'), value: username },
              { label: say('group'), value: group },
              { label: say('status'), value: <StatusTag state={organisationStatusLabels[status]} /> },
              { label: say('role'), value: local(organisationCallerLabels[role]) },
              { label: say('since'), value: <TimeText seconds={created_time} /> },
            ]}
          />
        </Panel>
        {isOwner && <TransferPanel organisation={organisation} />}
      </div>
      <SideDrawer subject={renaming} title={() => say('rename')} onClose={() => setRenaming(undefined)}>
        {(renamed) => <RenameForm organisation={renamed} onDone={() => setRenaming(undefined)} />}
      </SideDrawer>
    </div>
  )
}

function LeaveButton({ organisation: { id, name, member_id } }: { organisation: Organisation }) {
  const say = useText(texts)
  const client = useQueryClient()
  const leave = useWrite('DELETE /api/organisation/:id/members/:member', {
    success: say('left'),
    onSuccess: () => void switchPayer(client, null),
  })
  const action = {
    label: say('leave'),
    danger: true,
    ask: { title: say('leaveTitle'), object: name, body: say('leaveBody') },
    onClick: () => leave.mutate({ params: { id, member: member_id } }),
  }
  return (
    <Button
      variant="default"
      leftSection={<IconLogout size={16} />}
      loading={leave.isPending}
      onClick={() => void perform(action)}
    >
      {action.label}
    </Button>
  )
}
