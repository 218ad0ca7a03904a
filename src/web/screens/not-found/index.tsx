import { Button } from '@mantine/core'
import { IconCompass, IconLock } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useText } from '../../lib/i18n.ts'
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

function HomeButton() {
  const say = useText(texts)
  return (
    <Button component={Link} to="/" variant="default">
      {say('home')}
    </Button>
  )
}
