import { Menu, Skeleton } from '@mantine/core'
import { IconBuilding, IconCheck, IconUser } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { organisationCallerLabels } from '../../../contract/organisation-roles.ts'
import { defineTexts, useLocal, useText } from '../../lib/i18n.ts'
import { type Payer, switchPayer, usePayer } from '../../lib/payer.ts'
import { read } from '../../lib/query.ts'
import { useSession } from '../../lib/session.ts'
import { OpeningMenu } from '../dialog/opening-menu.tsx'
import shared from '../shared.module.css'
import styles from './payer.module.css'
import { PayerButton } from './payer-button.tsx'

const texts = defineTexts({
  who: ['付款账户', 'Paying account'],
  personal: ['个人账户', 'Personal account'],
  suspended: ['已停用', 'Suspended'],
})

/** The accounts that the user can call for, opened as it appears. */
export function PayerMenu() {
  const say = useText(texts)
  const local = useLocal()
  const client = useQueryClient()
  const user = useSession()
  const payer = usePayer()
  const { data } = useQuery(read('GET /api/organisation/', { query: { p: 1, page_size: 100, all: false } }))
  const others = data?.items ?? []
  // An admin of the site can look at one as it sees itself.
  const visited = payer && data && !others.some(({ id }) => id === payer.id) ? [payer] : []
  const choose = (next: Payer | null) => void switchPayer(client, next)
  return (
    <OpeningMenu width={280}>
      <Menu.Target>
        <PayerButton autoFocus />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{say('who')}</Menu.Label>
        <Menu.Item
          leftSection={<IconUser size={16} />}
          rightSection={payer === null && <IconCheck size={14} />}
          onClick={() => choose(null)}
        >
          <span className={styles.choice}>{say('personal')}</span>
          <span className={shared.note}>{user?.username}</span>
        </Menu.Item>
        {!data && <Skeleton height={36} m="xs" />}
        {[...visited, ...others].map((each) => (
          <Menu.Item
            key={each.id}
            leftSection={<IconBuilding size={16} />}
            rightSection={payer?.id === each.id && <IconCheck size={14} />}
            onClick={() => choose(each)}
          >
            <span className={styles.choice}>{each.name}</span>
            <span className={shared.note}>
              {local(organisationCallerLabels[each.role])}
              {'status' in each && each.status !== 1 && ` · ${say('suspended')}`}
            </span>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </OpeningMenu>
  )
}
