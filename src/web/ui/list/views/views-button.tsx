import { ActionIcon, Tooltip } from '@mantine/core'
import { IconBookmark } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import { useText } from '../../../lib/i18n.ts'
import { texts } from './texts.ts'
import { useViews, type ViewsInput } from './use-views.ts'

const ViewsMenu = lazy(async () => ({ default: (await import('./views-menu.tsx')).ViewsMenu }))

/** The views of a list. Until it is pressed the menu is only its button. */
export function ViewsButton(input: ViewsInput) {
  const say = useText(texts)
  const { views, show } = useViews(input)
  const [wanted, setWanted] = useState(false)
  const button = (
    <Tooltip label={say('views')}>
      <ActionIcon size={36} aria-label={say('views')} aria-haspopup="menu" onClick={() => setWanted(true)}>
        <IconBookmark size={18} stroke={1.6} />
      </ActionIcon>
    </Tooltip>
  )
  if (!wanted) return button
  return (
    <Suspense fallback={button}>
      <ViewsMenu {...input} views={views} onShow={show} />
    </Suspense>
  )
}
