package cli

import "github.com/urfave/cli/v2"

// Aliases of urfave/cli's types. With them a command imports a single package for its flags,
// and only this package depends on the library.
type (
	App             = cli.App
	Command         = cli.Command
	Context         = cli.Context
	Flag            = cli.Flag
	BoolFlag        = cli.BoolFlag
	StringFlag      = cli.StringFlag
	StringSliceFlag = cli.StringSliceFlag
	IntFlag         = cli.IntFlag
	Float64Flag     = cli.Float64Flag
	DurationFlag    = cli.DurationFlag
)
