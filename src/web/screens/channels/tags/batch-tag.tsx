import { Autocomplete, Button, Group } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useText } from '../../../lib/i18n.ts'
import { useWrite } from '../../../lib/query.ts'
import { Dialog } from '../../../ui/dialog/dialog.tsx'
import { texts } from './texts.ts'

interface BatchTagProps {
  readonly ids: readonly number[]
  /** The known tags in use. */
  readonly known: readonly string[]
  readonly onDone: () => void
  readonly onClose: () => void
}

/** Gives the selected channels a tag. */
export function BatchTag({ ids, known, onDone, onClose }: BatchTagProps) {
  const say = useText(texts)
  const [tag, setTag] = useState('')
  const [error, setError] = useState('')
  const write = useWrite('POST /api/channel/batch/tag', {
    invalidates: ['GET /api/channel/search'],
    success: (count) => say('tagged', { count, tag: tag.trim() }),
    onSuccess: () => {
      onDone()
      onClose()
    },
  })

  function submit(event: FormEvent): void {
    event.preventDefault()
    if (tag.trim() === '') setError(say('tagRequired'))
    else write.mutate({ body: { ids: [...ids], tag } })
  }

  return (
    <Dialog size="md" title={say('batchTitle', { count: ids.length })} onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <Autocomplete
          data-autofocus
          // It is focused from the start; suggestions would cover the button.
          openOnFocus={false}
          label={say('tag')}
          description={say('batchHelp')}
          data={[...known]}
          maxLength={100}
          value={tag}
          error={error}
          onChange={(next) => {
            setTag(next)
            setError('')
          }}
        />
        <Group justify="flex-end" mt="md">
          <Button type="submit" loading={write.isPending}>
            {say('batchApply')}
          </Button>
        </Group>
      </form>
    </Dialog>
  )
}
