import { TextInput } from '@mantine/core'
import { IconRefresh, IconStar, IconStarOff, IconTrash } from '@tabler/icons-react'
import { useRef, useState } from 'react'
import { type SavedView, savedViewLimits } from '../../../../contract/entities/saved-view.ts'
import { useText } from '../../../lib/i18n.ts'
import { useWrite } from '../../../lib/query.ts'
import { Dialog } from '../../dialog/dialog.tsx'
import shared from '../../shared.module.css'
import { actionIcon } from '../row-action.ts'
import { RowActions } from '../row-actions.tsx'
import { shownNow } from './shown.ts'
import { texts } from './texts.ts'
import type { ViewsMenuProps } from './use-views.ts'
import styles from './views.module.css'

const invalidates = ['GET /api/user/self/views'] as const

/** Renames, replaces and deletes views, and selects the one that the list opens with. */
export function ManageViews({ onClose, views, ...input }: ViewsMenuProps & { readonly onClose: () => void }) {
  const say = useText(texts)
  const change = useWrite('PUT /api/user/self/views/:id', { invalidates, success: say('saved') })
  const remove = useWrite('DELETE /api/user/self/views/:id', {
    invalidates,
    success: (_, { params: { id } }) => say('deleted', { name: views.find((view) => view.id === id)?.name ?? '' }),
    onSuccess: () => views.length <= 1 && onClose(),
  })

  return (
    <Dialog title={say('manageTitle')} size="md" onClose={onClose}>
      <ul className={styles.views}>
        {views.map((view) => (
          <li key={view.id}>
            <Name view={view} onRename={(name) => change.mutate({ params: view, body: { name } })} />
            <RowActions
              name={view.name}
              actions={[
                {
                  label: say(view.is_default ? 'dropDefault' : 'makeDefault'),
                  icon: view.is_default ? <IconStarOff {...actionIcon} /> : <IconStar {...actionIcon} />,
                  primary: true,
                  onClick: () => change.mutate({ params: view, body: { is_default: !view.is_default } }),
                },
                {
                  label: say('replace'),
                  icon: <IconRefresh {...actionIcon} />,
                  primary: true,
                  onClick: () => change.mutate({ params: view, body: shownNow(input) }),
                },
                {
                  label: say('delete'),
                  icon: <IconTrash {...actionIcon} />,
                  primary: true,
                  danger: true,
                  ask: { title: say('deleteTitle'), object: view.name },
                  onClick: () => remove.mutate({ params: view }),
                },
              ]}
            />
          </li>
        ))}
      </ul>
    </Dialog>
  )
}

/** Saved on blur or Enter. */
function Name({ view: { name }, onRename }: { view: SavedView; onRename: (name: string) => void }) {
  const say = useText(texts)
  const [typed, setTyped] = useState(name)
  // Enter is followed by a blur, before the renamed view is there.
  const asked = useRef(name)

  function finish(): void {
    const next = typed.trim()
    if (next === '') setTyped(name)
    else if (next !== name && next !== asked.current) {
      asked.current = next
      onRename(next)
    }
  }
  return (
    <TextInput
      className={shared.grow}
      aria-label={`${say('rename')}: ${name}`}
      maxLength={savedViewLimits.nameLengthMax}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        asked.current = name
      }}
      onBlur={finish}
      onKeyDown={(event) => event.key === 'Enter' && !event.nativeEvent.isComposing && finish()}
    />
  )
}
