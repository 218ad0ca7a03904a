import guide from '../../../../docs/operations/moving.md?raw'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { Markdown } from '../../ui/text/markdown.tsx'

/** The guide without its title, which the dialog has, and without links to files of the repository. */
const text = guide.replace(/^# .*\n/, '').replace(/\[([^[\]]+)\]\((?!https?:)[^()]*\)/g, '$1')

/** The migration guide of the documentation. */
export function MovingGuide({ title, onClose }: { title: string; onClose: () => void }) {
  return (
    <Dialog title={title} size="xl" onClose={onClose}>
      <Markdown text={text} streaming={false} />
    </Dialog>
  )
}
