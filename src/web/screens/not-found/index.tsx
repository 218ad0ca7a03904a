import { Button } from '@mantine/core'
import { IconBuilding, IconCompass, IconLock } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useText } from '../../lib/i18n.ts'
import { switchPayer } from '../../lib/payer.ts'
import { Empty } from '../../ui/page/empty.tsx'
import { texts } from './texts.ts'

/** Any address that is no screen. */
export function NotFound() {
  const say = useText(texts)
  return <Empty isPage icon={<IconCompass />} title={say('title')} hint={say('hint')} action={<HomeButton />} />
}

/** A screen that exists, but not for this user. */
export function NoPermission() {
  const say = useText(texts)
  return <Empty isPage icon={<IconLock />} title={say('forbidden')} hint={say('forbiddenHint')} action={<HomeButton />} />
}

/** A screen that is not about the account that pays now, or not for the role in it. */
export function OfOtherPayer() {
  const say = useText(texts)
  const client = useQueryClient()
  const action = <Button onClick={() => void switchPayer(client, null)}>{say('usePersonal')}</Button>
  return <Empty isPage icon={<IconBuilding />} title={say('otherPayer')} hint={say('otherPayerHint')} action={action} />
}

function HomeButton() {
  const say = useText(texts)
  return (
    <Button component={Link} to="/" variant="default">
      {say('home')}
    </Button>
  )
}
