import { Title } from '@mantine/core'
import { roleLabels } from '../../../contract/roles.ts'
import type { CallReply } from '../../lib/call.ts'
import { formatCount } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { Facts } from '../../ui/page/facts.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import { Initial } from '../../ui/view/initial.tsx'
import { QuotaText } from '../../ui/view/quota-text.tsx'
import { StatusTag } from '../../ui/view/status-tag.tsx'
import { Tag } from '../../ui/view/tag.tsx'
import styles from './personal.module.css'
import { texts } from './texts.ts'

export function AccountCard({ self }: { self: CallReply<'GET /api/user/self'> }) {
  const say = useText(texts)
  const name = self.display_name || self.username
  const [, role] = Object.entries(roleLabels).find(([value]) => Number(value) === self.role) ?? []

  return (
    <Panel>
      <div className={styles.account}>
        <Initial name={name} size={52} />
        <div className={styles.who}>
          <Title order={2}>{name}</Title>
          <div className={styles.tags}>
            <StatusTag state={role} />
            <Tag>ID {self.id}</Tag>
            <Tag color="sluice">{say('group', { group: self.group })}</Tag>
          </div>
        </div>
        <Facts
          large
          facts={[
            { label: say('balance'), value: <QuotaText units={self.quota} /> },
            { label: say('used'), value: <QuotaText units={self.used_quota} /> },
            { label: say('requests'), value: formatCount(self.request_count) },
          ]}
        />
      </div>
    </Panel>
  )
}
