import { Group, Popover, Skeleton, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { formatCount } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { Facts } from '../../ui/page/facts.tsx'
import shared from '../../ui/shared.module.css'
import { Initial } from '../../ui/view/initial.tsx'
import { QuotaText } from '../../ui/view/quota-text.tsx'
import type { LogRow } from './factors.ts'
import styles from './log.module.css'
import { texts } from './texts.ts'

/** The name of a row's user; clicking it opens a card with the state of the account. */
export function UserCell({ row }: { row: LogRow }) {
  return (
    <Popover shadow="md" radius="md" position="bottom-start" width={300} trapFocus withinPortal>
      <Popover.Target>
        <UnstyledButton className={styles.textButton} fz="inherit">
          {row.username}
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown>
        <UserCard id={row.user_id} name={row.username} />
      </Popover.Dropdown>
    </Popover>
  )
}

function UserCard({ id, name }: { id: number; name: string }) {
  const say = useText(texts)
  // No name of a user contains the sign.
  const isOrganisation = name.startsWith('@')
  const person = useQuery({ ...read('GET /api/user/:id', { params: { id } }), enabled: !isOrganisation })
  const organisation = useQuery({ ...read('GET /api/organisation/:id', { params: { id } }), enabled: isOrganisation })
  const user = isOrganisation ? organisation : person
  return (
    <section aria-label={say('userCard')} className={styles.userCard}>
      <Group gap={10} wrap="nowrap">
        <Initial name={name} />
        <div>
          <strong>{name}</strong>
          <div className={shared.note}>ID {id}</div>
        </div>
      </Group>
      {user.data ? (
        <Facts
          facts={[
            { label: say('balance'), value: <QuotaText units={user.data.quota} /> },
            { label: say('used'), value: <QuotaText units={user.data.used_quota} /> },
            { label: say('requests'), value: formatCount(user.data.request_count) },
          ]}
        />
      ) : user.error ? (
        <p className={shared.note} role="alert">
          {say('userGone')}
        </p>
      ) : (
        <Skeleton height={36} />
      )}
      <Group gap={10} wrap="nowrap">
        {isOrganisation ? (
          <Link to="/organisations" search={{ keyword: name.slice(1) }} className={styles.link}>
            {say('openOrganisation')}
          </Link>
        ) : (
          <Link to="/user/edit/$id" params={{ id: String(id) }} className={styles.link}>
            {say('openUser')}
          </Link>
        )}
        <Link to="/log" search={{ username: name }} className={styles.link}>
          {say('logsOfUser')}
        </Link>
      </Group>
    </section>
  )
}
