# symtool.mk: symbol files for crash reports, in a build by GNU make.
#
#   SYMTOOL_BINARIES = app libcore.so     make symbols of these; set it before `include`
#   SYMTOOL_PACKAGES = z.deb z-dbgsym.deb and of what is in these; both are optional
#   include symtool.mk
#
#   make symbols          BINARY.sym for each
#   make check-symbols    and lint them beside their binaries
#   make store-symbols    and add them to SYMTOOL_STORE/NAME/ID/NAME.sym, and those of packages,
#                         each time: equal files there stay, and missing ones come back
#   make split-symbols    stripped/BINARY, the file to ship, and BINARY.debug
#   make clean-symbols    remove all of these, but not the store
#
# If a binary is linked again to the same bytes, its .sym is left alone, and what depends
# on it is not made again. With other SYMTOOL_FLAGS or SYMTOOL_LINT_FLAGS than last time it is: set
# them before `include`, too, or on the command line. Binaries without debug information in packages are reported, and
# SYMTOOL_PACKAGE_FLAGS = --skip-no-debug-info leaves them out. make cannot handle names with blanks.
#
# Automake takes `include $(top_srcdir)/symtool.mk`. What libtool links is below .libs; say what makes it:
#
#   SYMTOOL_BINARIES = .libs/app .libs/libcore.so.1.0.2
#   .libs/app: app ;
#   .libs/libcore.so.1.0.2: libcore.la ;

SYMTOOL            ?= symtool
SYMTOOL_FLAGS      ?=
SYMTOOL_LINT_FLAGS ?=
SYMTOOL_STORE      ?= symbols
SYMTOOL_PACKAGES   ?=
OBJCOPY            ?= objcopy

# The first target of the Makefile stays its default, wherever the include is.
symtool_goal := $(.DEFAULT_GOAL)

# Stamps have the flags that made them. symtool_changed is empty if these are still the same.
symtool_changed = $(if $(findstring :$(shell cat $(1) 2>&1):,:$(2):),,symtool-always)
symtool_flags = printf '%s\n' '$(subst ','\'',$(1))'

# The stamp has the time before the work: the .sym is older than it only if it was left
# alone, and a binary that changes during the work is newer.
define symtool_binary
$(1).sym.stamp: $(1) $(call symtool_changed,$(1).sym.stamp,$(SYMTOOL_FLAGS))
	@$$(call symtool_flags,$$(SYMTOOL_FLAGS)) >$$@.tmp
	$$(SYMTOOL) dump --restat -MD -MP -MF $(1).sym.d -MT $$@ $$(SYMTOOL_FLAGS) -o $(1).sym $(1) || { status=$$$$?; rm -f $$@.tmp; exit $$$$status; }
	@mv $$@.tmp $$@
$(1).sym: $(1).sym.stamp
	@test -f $$@ || $$(SYMTOOL) dump $$(SYMTOOL_FLAGS) -o $$@ $(1)
$(1).sym.checked: $(1).sym $(call symtool_changed,$(1).sym.checked,$(SYMTOOL_LINT_FLAGS))
	$$(SYMTOOL) lint --verdict=false --stamp $$@ $$(SYMTOOL_LINT_FLAGS) --binary $(1) $(1).sym
	@$$(call symtool_flags,$$(SYMTOOL_LINT_FLAGS)) >$$@
.PHONY: $(1).sym.stored
$(1).sym.stored: $(1).sym
	$$(SYMTOOL) store add --replace $$(SYMTOOL_STORE) $(1).sym
$(1).debug: $(1)
	$$(OBJCOPY) --only-keep-debug $(1) $$@
$(dir $(1))stripped/$(notdir $(1)): $(1) $(1).debug
	@mkdir -p $$(@D)
	$$(OBJCOPY) --strip-unneeded --add-gnu-debuglink=$(1).debug $(1) $$@
-include $(1).sym.d
endef

$(foreach binary,$(SYMTOOL_BINARIES),$(eval $(call symtool_binary,$(binary))))

.PHONY: symtool-always symtool-packages
symtool-packages: $(SYMTOOL_PACKAGES)
	$(SYMTOOL) dump --restat --accept no-debug-info --accept no-binaries $(SYMTOOL_FLAGS) $(SYMTOOL_PACKAGE_FLAGS) --store $(SYMTOOL_STORE) $^

.PHONY: symbols check-symbols store-symbols split-symbols clean-symbols
symbols: $(SYMTOOL_BINARIES:=.sym)
check-symbols: $(SYMTOOL_BINARIES:=.sym.checked)
store-symbols: $(SYMTOOL_BINARIES:=.sym.stored) $(if $(SYMTOOL_PACKAGES),symtool-packages)
split-symbols: $(foreach binary,$(SYMTOOL_BINARIES),$(dir $(binary))stripped/$(notdir $(binary)))
clean-symbols:
	rm -f $(foreach suffix,.sym .sym.d .sym.stamp .sym.checked .debug,$(SYMTOOL_BINARIES:=$(suffix)))
	rm -rf $(sort $(foreach binary,$(SYMTOOL_BINARIES),$(dir $(binary))stripped))

.DEFAULT_GOAL := $(symtool_goal)
